export { openAgent, RefusedTarget } from './guarded-agent.js'
export { createJsonReader, type JsonReader } from './read-json.js'
export { outboundTargetFields, type TargetPolicy, targetPolicy } from './target-policy.js'
export { hostnameOf, hostProblem, urlProblem } from './target-url.js'
