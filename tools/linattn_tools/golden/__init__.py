"""Making the golden values: which cases there are, how they are proven, and how they are written and checked."""
