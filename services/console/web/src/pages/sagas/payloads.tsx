import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { addressOf, getBytes, segment } from '../../api/client'
import { buttonClass } from '../../components/button'
import { CopyButton } from '../../components/copy-button'
import { Empty, Problem } from '../../components/states'
import { TextBox } from '../../components/text-box'
import type { SagaActivity, SagaPayload } from '../../generated/types.gen'
import { bytes as bytesText } from '../../lib/format'
import { hexOf, indentJson } from './payload-text'
import { type SagaKey, sagaPath } from './saga-queries'

/** Largest part of a payload that is displayed; a larger one can be downloaded. */
const shownBytesMax = 1024 * 1024
/** Largest part in hexadecimal, which takes five times the space. */
const hexBytesMax = 64 * 1024

const kinds = ['parameter', 'result'] as const
const forms = ['json', 'text', 'hex'] as const
type Form = (typeof forms)[number]
const formNames: Record<Form, string> = { json: 'JSON', text: 'Text', hex: 'Hex' }

export const hasPayload = ({ parameter, result }: SagaActivity) => parameter !== null || result !== null

/** The payloads of the chosen activity: its parameter and its result. */
export function Payloads({ saga, activity }: { saga: SagaKey; activity: SagaActivity | undefined }) {
  if (!activity)
    return <Empty title="No payload">No activity of this saga was reported with a payload.</Empty>
  return (
    <>
      <p className="mb-3 text-sm text-quiet">
        of activity <bdi className="font-medium break-all text-ink">{activity.activity_id}</bdi>
      </p>
      {!hasPayload(activity) && (
        <Empty title="No payload">
          This activity was reported without parameter and result. Choose another one.
        </Empty>
      )}
      <div className="grid gap-4 xl:grid-cols-2">
        {kinds.map((kind) => {
          const payload = activity[kind]
          const path = `${sagaPath(saga)}/activities/${segment(activity.activity_id)}/payloads/${kind}`
          return (
            payload && (
              <PayloadView
                key={`${activity.activity_id} ${kind}`}
                kind={kind}
                payload={payload}
                path={path}
                tenant={saga.tenant}
              />
            )
          )
        })}
      </div>
    </>
  )
}

const titles = { parameter: 'Parameter', result: 'Result' } as const

function PayloadView({
  kind,
  payload,
  path,
  tenant,
}: {
  kind: (typeof kinds)[number]
  payload: SagaPayload
  path: string
  tenant: string | undefined
}) {
  const [form, setForm] = useState<Form>(payload.encoding === 'base64' ? 'hex' : payload.encoding)
  const isWhole = payload.truncated && payload.stored_size <= shownBytesMax && payload.stored_size > 0
  const query = useQuery({
    queryKey: ['payload', path, tenant, payload.sha256],
    queryFn: ({ signal }) => getBytes(path, { tenant }, signal),
    enabled: isWhole,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const known = query.data ?? headOf(payload)
  const shown = useMemo(() => textOf(known, form), [known, form])
  return (
    <div className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h3 className="font-semibold">{titles[kind]}</h3>
        <span className="flex-1 text-sm whitespace-nowrap text-quiet">{bytesText(payload.size)}</span>
        <FormChoice name={titles[kind]} value={form} onChange={setForm} />
        <CopyButton label="Copy" text={() => shown.text} />
        <a className={buttonClass()} href={addressOf(path, { tenant })} download>
          Download
        </a>
      </div>
      {query.isError && <Problem error={query.error} retry={query.refetch} />}
      {shown.problem && <p className="mb-1 text-sm text-warn">{shown.problem}</p>}
      <TextBox label={titles[kind]} busy={query.isLoading} className="max-h-96 border bg-raised p-3">
        {shown.text}
      </TextBox>
      {known.length < payload.size && (
        <p className="mt-1 text-sm text-quiet">
          The first {bytesText(known.length)} of {bytesText(payload.size)} are shown.
          {payload.stored_size < payload.size && ' The rest was too large to be stored.'}
        </p>
      )}
    </div>
  )
}

function headOf({ encoding, content }: SagaPayload): Uint8Array {
  if (encoding !== 'base64') return new TextEncoder().encode(content)
  return Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
}

function textOf(known: Uint8Array, form: Form): { text: string; problem?: string } {
  if (form === 'hex') {
    const text = hexOf(known.subarray(0, hexBytesMax))
    return known.length > hexBytesMax
      ? { text, problem: `The first ${bytesText(hexBytesMax)} are shown.` }
      : { text }
  }
  const text = new TextDecoder().decode(known)
  if (form === 'text') return { text }
  try {
    JSON.parse(text)
    return { text: indentJson(text) }
  } catch {
    return { text, problem: 'This is no complete JSON, so it is shown as text.' }
  }
}

function FormChoice({
  name,
  value,
  onChange,
}: {
  name: string
  value: Form
  onChange: (form: Form) => void
}) {
  return (
    <fieldset className="flex overflow-hidden rounded-md border text-sm">
      <legend className="sr-only">{name} as</legend>
      {forms.map((form) => (
        <label
          key={form}
          className="cursor-pointer px-2.5 py-1 not-first:border-l has-checked:bg-accent-soft has-checked:font-medium has-checked:text-accent has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={`${name} as`}
            className="sr-only"
            checked={form === value}
            onChange={() => onChange(form)}
          />
          {formNames[form]}
        </label>
      ))}
    </fieldset>
  )
}
