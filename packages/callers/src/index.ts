export { openCallers } from './callers.js'
export { allowedIssuers, issuerProblem, trustedIssuerFields } from './job-identity/allowed-issuers.js'
export { openFindJob } from './job-identity/find-job.js'
export { identityKey } from './job-identity/verify.js'
