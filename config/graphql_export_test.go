package config

// GraphQLOperation is graphqlOperation for tests.
var GraphQLOperation = graphqlOperation
