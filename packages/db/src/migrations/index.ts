export { type AppliedMigrations, applyMigrations } from './apply-migrations.js'
export { diffDatabaseToSchema } from './diff-schema.js'
export { waitForDatabase } from './wait-for-database.js'
