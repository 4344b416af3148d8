"""What is shown to a hall and taken home: lecture mode, lesson files in several browsers, pictures and films."""
