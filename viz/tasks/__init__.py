"""Tasks that several visitors share: cached, done once for all who wait, or done in another process.
Nothing here imports another folder of the app.
"""
