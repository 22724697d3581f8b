import { getRouteApi } from '@tanstack/react-router'
import { useMay } from '../../../api/session'
import { Page } from '../../../components/page'
import { NotAllowed } from '../../../components/states'
import { useHasRole } from '../project-data'
import { useProject } from '../project-frame'
import { GeneralPanel } from './general-panel'
import { ImpactRulesPanel, RuleRunsPanel } from './impact-rules-panel'
import { MembersPanel } from './members-panel'
import { ProtectedBranchesPanel, ProtectedTagsPanel } from './protection-panels'
import { StoragePanel } from './storage-panel'
import { AccessTokensPanel, DeployTokensPanel } from './token-panels'
import { TrustedIssuersPanel } from './trusted-issuers-panel'
import { ProjectDeliveriesPanel, ProjectWebhooksPanel } from './webhooks-panel'

const route = getRouteApi('/projects/$namespace/$name/settings')

/** The settings for maintainers, because the API refuses these lists to everybody else. */
export const SettingsPage = () => (useHasRole('maintainer') ? <Settings /> : <NotAllowed />)

function Settings() {
  const { path_with_namespace } = useProject()
  const mayChange = useMay('projects.change')
  const { hook, rule } = route.useSearch()
  return (
    <Page title={`Settings of ${path_with_namespace}`} heading="Settings">
      {mayChange && <GeneralPanel />}
      <StoragePanel mayChange={mayChange} />
      <MembersPanel mayChange={mayChange} />
      <ProtectedBranchesPanel mayChange={mayChange} />
      <ProtectedTagsPanel mayChange={mayChange} />
      <ProjectWebhooksPanel mayChange={mayChange} />
      {hook !== undefined && <ProjectDeliveriesPanel key={hook} hook={hook} mayChange={mayChange} />}
      <ImpactRulesPanel mayChange={mayChange} />
      {rule !== undefined && <RuleRunsPanel key={rule} rule={rule} />}
      <DeployTokensPanel mayChange={mayChange} />
      <AccessTokensPanel mayChange={mayChange} />
      <TrustedIssuersPanel mayChange={mayChange} />
    </Page>
  )
}
