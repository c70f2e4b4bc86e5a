"""Fitted models for places without this library."""
