export { applyMigrations } from './apply-migrations.js'
export { diffDatabaseToSchema } from './diff-schema.js'
export { listShippedMigrations, type ShippedMigration } from './shipped-migrations.js'
