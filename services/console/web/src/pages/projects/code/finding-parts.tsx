import { Badge, type Tone } from '../../../components/badge'
import type { Finding } from './findings-context'

const tones: Record<Finding['level'], Tone> = { error: 'bad', warning: 'warn', note: 'plain', none: 'plain' }

export const FindingLevel = ({ level }: Pick<Finding, 'level'>) => (
  <Badge tone={tones[level]}>{level === 'none' ? 'finding' : level}</Badge>
)

/** The findings on a line of a diff. */
export const LineFindings = ({ findings }: { findings: readonly Finding[] }) => (
  <ul className="border-y bg-raised p-3 font-sans text-sm">
    {findings.map((finding, index) => (
      <li key={index} className="flex max-w-3xl flex-wrap items-baseline gap-x-2 gap-y-1">
        <FindingLevel level={finding.level} />
        {finding.new && <Badge tone="busy">new</Badge>}
        <span dir="auto" className="min-w-0 break-words">
          {finding.message}
        </span>
        <span dir="auto" className="text-quiet">
          {[finding.tool, finding.rule].filter(Boolean).join(' · ')}
        </span>
      </li>
    ))}
  </ul>
)
