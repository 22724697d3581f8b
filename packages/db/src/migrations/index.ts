export { type AppliedMigrations, applyMigrations } from './apply-migrations.js'
export { diffDatabaseToSchema } from './diff-schema.js'
export { listShippedMigrations, type ShippedMigration } from './shipped-migrations.js'
export { waitForDatabase } from './wait-for-database.js'
