import { sagaOutcomes } from '@switchyard/domain/saga-status'
import { type FormEvent, type ReactNode, useId } from 'react'
import { Button } from '../../components/button'
import { FilterSelect } from '../../components/fields'
import { SearchBox } from '../../components/search-box'
import { TextLink } from '../../components/text-link'
import { localTime, timeOfLocal } from '../../lib/local-time'
import { oneOf } from '../../lib/search-params'
import { errorTextMin, type SagaSearch, type SearchKind, sagaFlags, sagaSorts } from './saga-filter'
import type { SearchMeaning } from './use-search-meaning'

export type ChangeSearch = (change: Partial<SagaSearch>) => void

const meanings: Record<SearchKind, string> = {
  search: 'sagas whose id contains',
  id_prefix: 'sagas whose id begins with',
  errors_contains: 'sagas with an error that contains',
  tag: 'sagas with the tag',
}

/** The filters of the list except the status. */
export function SagaFilters({
  search,
  meaning,
  onChange,
}: {
  search: SagaSearch
  meaning: SearchMeaning
  onChange: ChangeSearch
}) {
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <div className="flex w-full sm:w-72">
        <SearchBox
          value={search.q}
          placeholder="Id, error or tag (key=value)"
          onChange={(q) => onChange({ q })}
        />
      </div>
      <FilterText label="Service" value={search.service} onChange={(service) => onChange({ service })} />
      <FilterSelect
        label="Outcome"
        all="Any outcome"
        options={sagaOutcomes}
        value={oneOf(sagaOutcomes, search.outcome)}
        onChange={(outcome) => onChange({ outcome })}
      />
      <FilterSelect
        label="Flag"
        all="Any flag"
        options={sagaFlags}
        value={oneOf(sagaFlags, search.flag)}
        onChange={(flag) => onChange({ flag })}
      />
      <FilterSelect
        label="Sort"
        all="Default order"
        options={sagaSorts}
        value={sagaSorts.find(({ value }) => value === search.sort)?.value}
        onChange={(sort) => onChange({ sort })}
      />
      <details open={Boolean(search.tenant || search.from || search.to)} className="text-sm open:basis-full">
        <summary className="min-h-8 rounded-md px-1 py-1 text-accent">Time and tenant</summary>
        <div className="mt-1 flex flex-wrap items-center gap-2">
          <FilterTime label="First seen from" value={search.from} onChange={(from) => onChange({ from })} />
          <FilterTime label="First seen to" value={search.to} onChange={(to) => onChange({ to })} />
          <FilterText label="Tenant" value={search.tenant} onChange={(tenant) => onChange({ tenant })} />
        </div>
      </details>
      {search.parent && (
        <p className="basis-full text-sm text-quiet">
          Sagas that{' '}
          <TextLink
            to="/sagas/$sagaId"
            params={{ sagaId: search.parent }}
            search={{ tenant: search.tenant }}
            dir="auto"
          >
            {search.parent}
          </TextLink>{' '}
          began.
        </p>
      )}
      {search.fingerprint && (
        <p className="flex basis-full flex-wrap items-center gap-2 text-sm text-quiet">
          Sagas with the errors of one{' '}
          <TextLink to="/failures" search={{ tenant: search.tenant, from: search.from, to: search.to }}>
            cause
          </TextLink>
          <Button look="quiet" onClick={() => onChange({ fingerprint: undefined })}>
            Show every cause
          </Button>
        </p>
      )}
      {search.q && (
        <p className="basis-full text-sm text-quiet" role="status">
          <Meaning text={search.q} meaning={meaning} />
        </p>
      )}
    </div>
  )
}

function Meaning({
  text,
  meaning: { kind, isDeciding, findsNothing },
}: {
  text: string
  meaning: SearchMeaning
}) {
  if (isDeciding) return 'Looking at ids, errors and tags…'
  return (
    <>
      {findsNothing ? 'No saga has an id, an error or a tag like ' : `Shows ${meanings[kind ?? 'search']} `}
      <bdi className="font-medium text-ink">{text}</bdi>
      {text.trim().length < errorTextMin && `. Errors are searched from ${errorTextMin} characters on.`}
    </>
  )
}

const box = 'min-h-8 rounded-md border bg-panel px-2 py-1 text-sm placeholder:text-quiet'

/** A text filter that applies with Enter or when the field loses the focus. */
export function FilterText({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const take = (text: string) => {
    const given = text.trim() || undefined
    if (given !== value) onChange(given)
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    take(String(new FormData(event.currentTarget).get('text') ?? ''))
  }
  return (
    <form onSubmit={onSubmit} className="contents">
      <input
        // A value from the address replaces the typed one.
        key={value ?? ''}
        name="text"
        aria-label={label}
        placeholder={label}
        defaultValue={value}
        dir="auto"
        autoComplete="off"
        maxLength={255}
        onBlur={(event) => take(event.target.value)}
        className={`${box} w-32`}
      />
    </form>
  )
}

/**
 * A link back to the page Sagas, the filters of a list, and the tenant, by which each of these lists is
 * filtered.
 */
export const SagaListBar = ({
  tenant,
  onTenant,
  children,
}: {
  tenant: string | undefined
  onTenant: (tenant: string | undefined) => void
  children?: ReactNode
}) => (
  <div className="mb-4 flex flex-wrap items-center gap-2">
    <TextLink to="/sagas" search={{ tenant }} className="text-sm underline">
      Sagas
    </TextLink>
    {children}
    <FilterText label="Tenant" value={tenant} onChange={onTenant} />
  </div>
)

/** A time filter in the viewer's zone. */
export function FilterTime({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const id = useId()
  return (
    <span className="inline-flex items-center gap-1.5">
      <label htmlFor={id} className="text-sm text-quiet">
        {label}
      </label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        value={localTime(value)}
        onChange={(event) => onChange(timeOfLocal(event.target.value, value))}
        className={box}
      />
    </span>
  )
}
