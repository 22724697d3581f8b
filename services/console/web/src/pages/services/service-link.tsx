import { useMay } from '../../api/session'
import { TextLink } from '../../components/text-link'

/** Names that browsers would resolve in an address. */
const withoutAddress = ['.', '..']

/** A link to the page of a service, for sessions that may see it. */
export function ServiceLink({
  name,
  tenant,
  className = '',
}: {
  name: string
  tenant?: string | undefined
  className?: string
}) {
  const maySee = useMay('projects')
  if (!maySee || withoutAddress.includes(name)) return <bdi className="wrap-anywhere">{name}</bdi>
  return (
    <TextLink
      to="/services/$service"
      params={{ service: name }}
      search={{ tenant }}
      dir="auto"
      className={`wrap-anywhere ${className}`}
    >
      {name}
    </TextLink>
  )
}
