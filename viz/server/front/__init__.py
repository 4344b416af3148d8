"""The front door: the gallery as a page of HTML that needs nothing else, and the search in it. No Dash here."""
