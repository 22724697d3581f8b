import { TextLink } from '../../../components/text-link'
import type { EndedDeployment } from '../../../generated/types.gen'
import { countOf, exactTime } from '../../../lib/format'
import { isBlamed } from '../../projects/deployments/became-worse'
import { nameOf } from '../../projects/deployments/impact-text'
import { Lane } from './lane'
import { placeIn, rowsOf, type Span } from './time-line-model'
import type { MarkOf } from './use-marks'

const rowHeight = 26
const rowsMax = 5
const plainWidth = 26
// In pixels, for the text of a mark.
const characterWidth = 7
const padding = 14
const textMax = 200

export const deploymentKey = ({ project, id }: EndedDeployment) => `deployment ${project.id} ${id}`

export const endOf = ({ finished_at, updated_at }: EndedDeployment) => Date.parse(finished_at ?? updated_at)

export function deploymentParams({ project, id }: EndedDeployment) {
  const [namespace = '', name = ''] = project.path_with_namespace.split('/')
  return { namespace, name, deploymentId: String(id) }
}

/** Returns 'more sagas fail (billing), a new failure (billing)'. */
export const findingsText = ({ findings }: EndedDeployment): string =>
  [...new Set(findings.map((finding) => `${nameOf(finding)} (${finding.service_name})`))].join(', ')

/**
 * Returns '! #12 of root/shop', because each project has its own numbers. The name of the mark contains the
 * same words.
 */
const textOf = ({ project, iid }: EndedDeployment) => `! #${iid} of ${project.path_with_namespace}`

/** Returns half of the largest width of a mark. */
const halfOf = (deployment: EndedDeployment) =>
  (isBlamed(deployment)
    ? Math.min(textMax, textOf(deployment).length * characterWidth + padding)
    : plainWidth) / 2

function labelOf(deployment: EndedDeployment): string {
  const { iid, project, environment, status, findings, dismissed } = deployment
  const end = exactTime(new Date(endOf(deployment)))
  const about = `Deployment ${iid} of ${project.path_with_namespace} to ${environment.name}: ${status}, ${end}`
  if (findings.length === 0) return about
  return `${about}. Worse since then: ${findingsText(deployment)}${dismissed ? '; somebody says that it is not the reason' : ''}`
}

/**
 * The deployments to environments of a tier. Those with findings have an exclamation mark, their number and
 * their project.
 */
export function DeploymentLane({
  tier,
  deployments,
  span,
  plotWidth,
  markOf,
}: {
  tier: string
  deployments: readonly EndedDeployment[]
  span: Span
  /** In pixels. */
  plotWidth: number
  markOf: MarkOf
}) {
  const sorted = deployments.toSorted((a, b) => endOf(a) - endOf(b))
  const rows = rowsOf(
    sorted.map((deployment) => {
      const middle = (placeIn(span, endOf(deployment)) / 100) * plotWidth
      const half = halfOf(deployment)
      return { left: middle - half, right: middle + half }
    }),
    rowsMax,
  )
  return (
    <Lane
      name={`Deployments: ${tier}`}
      note={countOf(deployments.length, 'deployment')}
      height={(Math.max(...rows) + 1) * rowHeight}
    >
      {sorted.map((deployment, index) => {
        const isWorse = isBlamed(deployment)
        const half = halfOf(deployment)
        const left = `clamp(${half}px, ${placeIn(span, endOf(deployment))}%, calc(100% - ${half}px))`
        const label = labelOf(deployment)
        return (
          <TextLink
            key={deploymentKey(deployment)}
            to="/projects/$namespace/$name/deployments/$deploymentId"
            params={deploymentParams(deployment)}
            aria-label={label}
            title={label}
            {...markOf(deploymentKey(deployment))}
            className={`absolute flex h-[24px] -translate-x-1/2 items-center justify-center ${isWorse ? 'z-10' : 'w-[24px]'}`}
            style={{ left, top: (rows[index] ?? 0) * rowHeight }}
          >
            {isWorse ? (
              <bdi className="max-w-[200px] truncate rounded-md bg-bad px-1.5 text-xs leading-5 font-semibold text-panel">
                {textOf(deployment)}
              </bdi>
            ) : (
              <Shape status={deployment.status} />
            )}
          </TextLink>
        )
      })}
    </Lane>
  )
}

/** A disc: success; a square with a cross: failed; a ring with a bar: canceled. */
const Shape = ({ status }: { status: string }) => (
  <svg viewBox="0 0 14 14" className="size-3.5 overflow-visible" aria-hidden="true">
    {status === 'success' && <circle cx="7" cy="7" r="6.5" className="fill-good" />}
    {status === 'failed' && (
      <>
        <rect x="0.5" y="0.5" width="13" height="13" rx="2" className="fill-bad" />
        <path d="M4 4L10 10M10 4L4 10" className="stroke-panel" strokeWidth="2" />
      </>
    )}
    {status === 'canceled' && (
      <path
        d="M1.5 7a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0M4 7H10"
        className="fill-panel stroke-quiet"
        strokeWidth="2"
      />
    )}
  </svg>
)
