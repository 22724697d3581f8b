/** What the scopes of tokens are for. */
export const tokenScopes: readonly {
  name: string
  /** What a checkbox is called, when the name of the scope could be taken for that of a field. */
  label?: string
  meaning: string
}[] = [
  { name: 'api', meaning: 'everything that the user may do in the API, and git' },
  { name: 'read_api', meaning: 'reading in the API' },
  { name: 'read_user', label: 'own profile', meaning: 'read_user: reading who its holder is' },
  { name: 'read_repository', meaning: 'clone and fetch' },
  { name: 'write_repository', meaning: 'clone, fetch and push' },
  { name: 'self_rotate', meaning: 'replacing itself' },
  { name: 'read_metrics', meaning: 'figures of queues and services' },
  { name: 'read_sagas', meaning: 'reading sagas' },
  { name: 'saga_report', meaning: 'reporting sagas' },
  { name: 'manage_jobs', meaning: 'retrying and removing jobs of Switchyard' },
  { name: 'manage_broadcasts', meaning: 'posting, changing and removing broadcasts' },
]
