export {
  applyMonitoringRole,
  applyRoles,
  derivePasswords,
  type RolePasswords,
  serviceUrl,
} from './apply-roles.js'
export {
  type DatabaseService,
  databaseServices,
  monitoringRole,
  passwordVariableOf,
  roleOf,
  tableAccess,
} from './table-access.js'
