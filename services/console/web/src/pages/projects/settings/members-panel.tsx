import { useMutation, useQueryClient } from '@tanstack/react-query'
import { textOf } from '../../../components/action-dialog'
import type { Column } from '../../../components/data-table'
import { SelectField, TextField } from '../../../components/fields'
import { Empty, Problem } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Member } from '../../../generated/types.gen'
import { changeShown } from '../../../lib/edit-version'
import { roleNames, roles, useHasRole } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'

/** Users with a role in the project. */
export function MembersPanel({ mayChange }: { mayChange: boolean }) {
  const address = `${useProjectPath()}/members`
  const project = useProject()
  const client = useQueryClient()
  const isOwner = useHasRole('owner')
  const change = useMutation({
    mutationFn: ({ member, level }: { member: Member; level: number }) =>
      changeShown(`${address}/${member.id}`, member, { access_level: level }),
    onSettled: () => client.invalidateQueries({ queryKey: [address] }),
  })
  const levels: number[] = Object.values(roles).filter((level) => isOwner || level < roles.owner)
  const columns = columnsFor({
    levels,
    mayChange: ({ id }) => mayChange && id !== project.owner.id,
    onChange: (member, level) => change.mutate({ member, level }),
  })
  return (
    <>
      {change.isError && <Problem error={change.error} />}
      <ResourcePanel<Member>
        name="Members"
        address={address}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title="The project has no members besides its owner." />}
        add={
          mayChange
            ? {
                title: 'Add member',
                fields: (
                  <>
                    <TextField label="Username" name="username" required maxLength={255} autoComplete="off" />
                    <SelectField label="Role" name="level" defaultValue={roles.developer}>
                      {levels.map((level) => (
                        <option key={level} value={level}>
                          {roleNames[level]}
                        </option>
                      ))}
                    </SelectField>
                    <TextField
                      label="Ends"
                      name="expires_at"
                      type="date"
                      hint="The day on which the membership ends. Empty: it has no end."
                    />
                  </>
                ),
                bodyOf: (form) => ({
                  username: textOf(form, 'username'),
                  access_level: Number(textOf(form, 'level')),
                  expires_at: textOf(form, 'expires_at') || undefined,
                }),
              }
            : undefined
        }
        remove={
          mayChange
            ? {
                action: 'Remove',
                nameOf: ({ username }) => username,
                idOf: ({ id }) => id,
                isRemovable: ({ id }) => id !== project.owner.id,
                effect: 'The user loses the role in this project. Commits and comments of the user stay.',
              }
            : undefined
        }
      />
    </>
  )
}

function columnsFor({
  levels,
  mayChange,
  onChange,
}: {
  levels: number[]
  mayChange: (member: Member) => boolean
  onChange: (member: Member, level: number) => void
}): Column<Member>[] {
  return [
    {
      header: 'User',
      cell: ({ name, username }) => (
        <span className="flex flex-wrap gap-x-2">
          <span dir="auto" className="font-medium">
            {name}
          </span>
          <span className="text-quiet">{username}</span>
        </span>
      ),
    },
    {
      header: 'Role',
      cell: (member) =>
        mayChange(member) && levels.includes(member.access_level) ? (
          <select
            aria-label={`Role of ${member.username}`}
            value={member.access_level}
            onChange={(event) => onChange(member, Number(event.target.value))}
            className="min-h-8 rounded-md border bg-panel px-2 py-1"
          >
            {levels.map((level) => (
              <option key={level} value={level}>
                {roleNames[level]}
              </option>
            ))}
          </select>
        ) : (
          roleNames[member.access_level]
        ),
    },
    { header: 'Since', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { header: 'Ends', wide: true, cell: ({ expires_at }) => expires_at ?? 'never' },
  ]
}
