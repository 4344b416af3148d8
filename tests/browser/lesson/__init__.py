"""Lectures and their handouts: lecture mode, lesson files in several browsers, pictures and films."""
