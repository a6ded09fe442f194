"""Scoring: bytes in, a result out. One file a kind; knows neither git nor pages."""
