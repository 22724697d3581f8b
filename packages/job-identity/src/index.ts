export { allowedIssuers, issuerProblem, trustedIssuerFields } from './allowed-issuers.js'
export { createFindJob } from './find-job.js'
