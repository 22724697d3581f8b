export { allowedIssuers, issuerProblem, trustedIssuerFields } from './allowed-issuers.js'
