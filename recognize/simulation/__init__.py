"""A made-up hand and a made-up camera: sheets filled in and photographed, with the exact truth beside them."""
