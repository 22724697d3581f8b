import { describe, expect, it } from 'vitest'
import {
  type Manifest,
  overlays,
  renderWithComponent,
  schemaErrors,
  unknownFields,
} from './support/manifests.js'

const kubectl = process.env.SWITCHYARD_TEST_KUBECTL ?? ''

type Policy = Manifest<{
  podSelector: { matchLabels?: Record<string, string>; matchExpressions?: { values: string[] }[] }
  policyTypes: string[]
  egress: { ports: { protocol: string; port: number }[] }[]
}>

/**
 * The components that allow some services to connect to the outside: their policy, and the ports that it
 * allows.
 */
const components = [
  { component: 'identity-issuers', name: 'keys-of-issuers-are-read', ports: [443] },
  { component: 'audit-export', name: 'audit-log-leaves', ports: [601, 6514, 443, 4318] },
]

const cases = overlays.flatMap((overlay) => components.map((each) => ({ overlay, ...each })))

describe.runIf(kubectl).each(cases)('the component $component in the overlay $overlay', (given) => {
  const manifests = kubectl ? renderWithComponent(kubectl, given.overlay, given.component) : []
  const policy = manifests.find(({ metadata }) => metadata.name === given.name) as Policy | undefined

  it('allows existing services to connect to these ports over TCP, and no incoming connection', async () => {
    expect(policy?.metadata.namespace).toBe('switchyard')
    expect(await schemaErrors(policy ? [policy] : [])).toEqual([])
    expect(unknownFields(policy ? [policy] : [])).toEqual([])
    expect(policy?.spec.policyTypes).toEqual(['Egress'])
    const allowed = policy?.spec.egress.flatMap(({ ports }) => ports)
    expect(allowed).toEqual(given.ports.map((port) => ({ protocol: 'TCP', port })))
    const { matchLabels = {}, matchExpressions = [] } = policy?.spec.podSelector ?? {}
    const named = [...Object.values(matchLabels), ...matchExpressions.flatMap(({ values }) => values)]
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
    expect(named).not.toEqual([])
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(named))
  })
})
