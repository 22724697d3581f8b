import { textOf } from '../../../components/action-dialog'
import { TextField } from '../../../components/fields'
import { Empty } from '../../../components/states'
import type { FreezePeriod } from '../../../generated/types.gen'
import { useMayChange } from '../project-data'
import { useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'

/** Times in which a project should not be deployed. */
export function FreezePeriodsPanel() {
  const mayChange = useMayChange('maintainer')
  return (
    <ResourcePanel<FreezePeriod>
      name="Freeze periods"
      address={`${useProjectPath()}/freeze_periods`}
      columns={columns}
      rowKey={({ id }) => id}
      empty={
        <Empty title="There are no freeze periods.">
          Rules, in the settings, may freeze an environment when services become worse with a deployment.
        </Empty>
      }
      add={
        mayChange
          ? {
              title: 'New freeze period',
              fields,
              bodyOf: (form) => ({
                freeze_start: textOf(form, 'start'),
                freeze_end: textOf(form, 'end'),
                cron_timezone: textOf(form, 'zone') || null,
              }),
            }
          : undefined
      }
      remove={
        mayChange
          ? {
              action: 'Remove',
              nameOf: ({ freeze_start }) => `the freeze period from ${freeze_start}`,
              idOf: ({ id }) => id,
              effect: 'Deployments in this time are no longer marked or refused.',
            }
          : undefined
      }
    />
  )
}

const Cron = ({ text }: { text: string }) => <code className="font-mono text-[13px]">{text}</code>

const columns = [
  { header: 'From', cell: ({ freeze_start }: FreezePeriod) => <Cron text={freeze_start} /> },
  { header: 'To', cell: ({ freeze_end }: FreezePeriod) => <Cron text={freeze_end} /> },
  { header: 'Time zone', cell: ({ cron_timezone }: FreezePeriod) => cron_timezone },
]

const fields = (
  <>
    <TextField
      label="From"
      name="start"
      required
      placeholder="0 23 * * 5"
      className="font-mono"
      hint="A cron expression: minute, hour, day, month, day of the week"
    />
    <TextField label="To" name="end" required placeholder="0 8 * * 1" className="font-mono" />
    <TextField
      label="Time zone"
      name="zone"
      defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
      hint="Empty: UTC"
    />
  </>
)
