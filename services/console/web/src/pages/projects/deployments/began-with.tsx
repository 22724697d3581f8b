import { queryOptions } from '@tanstack/react-query'
import { getPage } from '../../../api/client'
import { Badge } from '../../../components/badge'
import type { FoundImpact } from '../../../generated/types.gen'
import { shortSha } from '../../../lib/format'
import { DeploymentLink } from './deployed-commit'
import { beganText, changeText, confidenceText, nameOf } from './impact-text'

const perPage = 100

interface Question {
  tenant?: string | undefined
  service_name?: string | undefined
  fingerprint?: string | undefined
  began_after?: string | undefined
  began_before?: string | undefined
}

/** The findings of deployments that the session may see, newest first. */
export const foundImpactsQuery = (question: Question = {}) =>
  queryOptions({
    queryKey: ['deployment-impacts', question],
    queryFn: async ({ signal }) => {
      const query = { ...question, per_page: perPage }
      return (await getPage<FoundImpact>('/deployment_impacts', query, signal)).rows
    },
    staleTime: 10_000,
  })

/**
 * 'Began 3 minutes after deployment 12 of billing, commit abcd1234, by Ada', with the evidence, and whether
 * it is dismissed.
 */
export const BeganWith = ({ found }: { found: FoundImpact }) => {
  const { deployment, project, service_name, measure, began_at, chance, test, dismissed } = found
  return (
    <div className="text-sm">
      <p>
        {beganText(began_at, deployment.finished_at)}{' '}
        <DeploymentLink deployment={deployment} project={project.path_with_namespace} inText>
          deployment {deployment.iid}
        </DeploymentLink>{' '}
        of <bdi>{service_name}</bdi>, commit <span className="font-mono">{shortSha(deployment.sha)}</span>, by{' '}
        <bdi>{deployment.user?.name ?? 'a deleted user'}</bdi>
      </p>
      <p className="text-quiet">
        {nameOf({ measure })}: {changeText(found)}; confidence {confidenceText(chance)} ({test})
      </p>
      {dismissed && <Badge tone="warn">somebody says that it is not the reason</Badge>}
    </div>
  )
}
