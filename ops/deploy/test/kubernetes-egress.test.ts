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
  podSelector: { matchExpressions: { values: string[] }[] }
  policyTypes: string[]
  egress: { ports: { port: number }[] }[]
}>

describe.runIf(kubectl).each(overlays)('the component identity-issuers in the overlay %s', (overlay) => {
  const manifests = kubectl ? renderWithComponent(kubectl, overlay, 'identity-issuers') : []
  const policy = manifests.find(({ metadata }) => metadata.name === 'keys-of-issuers-are-read') as
    | Policy
    | undefined

  it('lets the services that take identity tokens reach issuers over HTTPS, and nothing in', async () => {
    expect(policy?.metadata.namespace).toBe('switchyard')
    expect(await schemaErrors(policy ? [policy] : [])).toEqual([])
    expect(unknownFields(policy ? [policy] : [])).toEqual([])
    expect(policy?.spec.policyTypes).toEqual(['Egress'])
    expect(policy?.spec.egress.flatMap(({ ports }) => ports)).toEqual([{ protocol: 'TCP', port: 443 }])
    const named = policy?.spec.podSelector.matchExpressions.flatMap(({ values }) => values) ?? []
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(named))
  })
})
