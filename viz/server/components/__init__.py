"""What the page is made of.  Each file builds one region; the modules in assets/js/panels fill it."""
