"""How the handwriting nets were made: characters of real people, composed into fields, photographed, learnt."""
