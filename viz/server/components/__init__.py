"""The parts of the page.  Each file builds one region; the modules in assets/js/panels fill it. No callbacks here."""
