export { applyMonitoringRole, applyRoles, type RolePasswords } from './apply-roles.js'
export { derivePasswords, serviceUrl } from './derive-passwords.js'
export {
  type DatabaseService,
  databaseServices,
  monitoringRole,
  passwordVariableOf,
  roleOf,
  tableAccess,
} from './table-access.js'
