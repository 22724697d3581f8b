/** A query of a list of 50 sagas, and the variation of its value between requests. */
export interface Question {
  name: string
  query: (round: number) => string
}

const dayMs = 24 * 60 * 60 * 1000
/** Returns a time in the last 89 days. */
const past = (round: number) => new Date(Date.now() - ((round * 7919) % 89) * dayMs - 60_000).toISOString()
const hex = (round: number, digits: number) =>
  ((round * 2654435761) % 16 ** digits).toString(16).padStart(digits, '0')

export const questions: Question[] = [
  { name: 'no filter', query: () => '' },
  { name: 'service_name', query: (round) => `service_name=service-${round % 50}` },
  { name: 'service_name, none such', query: (round) => `service_name=nobody-${round}` },
  { name: 'status, frequent', query: () => 'status=Ended' },
  {
    name: 'status, rare',
    query: (round) => `status=${['Error', 'Overtime', 'Pending', 'Started'][round % 4]}`,
  },
  {
    name: 'outcome',
    query: (round) => `outcome=${['succeeded', 'compensated', 'empty', 'inconsistent'][round % 4]}`,
  },
  { name: 'tenant', query: (round) => `tenant=tenant-${1 + (round % 100)}` },
  { name: 'late=true', query: () => 'late=true' },
  { name: 'late=false', query: () => 'late=false' },
  { name: 'stuck', query: () => 'stuck=true' },
  { name: 'overdue', query: () => 'overdue=true' },
  { name: 'settled', query: () => 'settled=true' },
  { name: 'parked', query: () => 'parked=true' },
  { name: 'inconsistent', query: () => 'inconsistent=true' },
  { name: 'stuck=false', query: () => 'stuck=false' },
  { name: 'tag, frequent', query: () => 'tag=region%3Deu' },
  { name: 'tag, of one', query: (round) => `tag=order%3D${(1 + ((round * 7919) % 10_000)) * 10}` },
  { name: 'id_prefix, 1 digit', query: (round) => `id_prefix=${hex(round, 1)}` },
  { name: 'id_prefix, 4 digits', query: (round) => `id_prefix=${hex(round, 4)}` },
  { name: 'created_after', query: (round) => `created_after=${past(round)}` },
  { name: 'created_before', query: (round) => `created_before=${past(round)}` },
  { name: 'updated_after', query: (round) => `updated_after=${past(round)}` },
  { name: 'updated_before', query: (round) => `updated_before=${past(round)}` },
  { name: 'ended_after', query: (round) => `ended_after=${past(round)}` },
  { name: 'ended_before', query: (round) => `ended_before=${past(round)}` },
  { name: 'errors_contains, frequent', query: () => 'errors_contains=econnrefused' },
  { name: 'errors_contains, 1 in 100', query: () => 'errors_contains=declined' },
  { name: 'errors_contains, of one', query: (round) => `errors_contains=customer+${hex(round, 4)}x` },
  {
    name: 'errors_contains, some',
    query: (round) => `errors_contains=flight+LH${(round * 40) % 900}+is`,
  },
  { name: 'order_by=updated_at', query: () => 'order_by=updated_at' },
  { name: 'order_by=ended_at', query: () => 'order_by=ended_at' },
  { name: 'order_by=id', query: () => 'order_by=id' },
]
