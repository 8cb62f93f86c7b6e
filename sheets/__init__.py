"""Ink on paper: a form and an event become a PDF, and each sheet says in a code what it is."""
