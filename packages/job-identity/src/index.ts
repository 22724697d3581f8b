export { allowedIssuers, issuerProblem, trustedIssuerFields } from './allowed-issuers.js'
export { openCallers, openFindJob } from './find-job.js'
export { identityKey } from './verify.js'
