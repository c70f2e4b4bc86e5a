"""Methods side by side on data sets: regression, boosting of classes, refined trees."""
