export { type BranchFilter, branchFilterStrategies, matchesBranch } from './branch-filter.js'
export { changeWebhookHeader } from './change-header.js'
export type { CustomHeader } from './custom-headers.js'
export {
  type ProjectWebhookEvent,
  projectWebhookEvents,
  type SilentProjectEvent,
  sagaWebhookEvents,
  silentProjectEvents,
} from './events.js'
export type { HookRules } from './hook-rules.js'
export {
  deploymentPage,
  type HookDeployment,
  impactDelivery,
  ruleDelivery,
} from './impact-event.js'
export {
  addWebhook,
  changeWebhook,
  getWebhookDelivery,
  listWebhookDeliveries,
  previewBody,
  redeliverWebhook,
  removeWebhook,
  testWebhook,
} from './manage.js'
export {
  bodyParameters,
  deliveryShape,
  listedDeliveryShape,
  presentDelivery,
  presentListedDelivery,
  presentWebhookState,
  previewShape,
  webhookStateShape,
} from './present.js'
export { type FailedActivity, type SagaNews, type SagaOccurrence, sagaPayload } from './saga-payload.js'
export { createSecretBox, type SecretBox, UnreadableSecret, webhookSecretFields } from './secret-box.js'
export {
  deliveriesTo,
  enqueueDeliveries,
  enqueueForProject,
  hasSubscriber,
  type NewDelivery,
  type Recipient,
  redeliver,
} from './store/deliveries.js'
export {
  createWebhook,
  getWebhook,
  listWebhooks,
  type NewWebhook,
  type Webhook,
  type WebhookOwner,
} from './store/hooks.js'
export { type RequestSecretsRow, requestSecretColumns } from './store/request-secrets.js'
export {
  checkStoredSecrets,
  encryptStoredSecrets,
  type RequestSecrets,
  readRequestSecrets,
} from './stored-secrets.js'
