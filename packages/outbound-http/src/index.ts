export { createOutboundClient, type OutboundResponse, RefusedTarget } from './outbound-client.js'
export { createJsonReader, type JsonReader } from './read-json.js'
export { outboundTargetFields, type TargetPolicy, targetPolicy } from './target-policy.js'
export { hostnameOf, urlProblem } from './target-url.js'
