"""The app without a browser: from recording a script to the document that the browser plays."""
