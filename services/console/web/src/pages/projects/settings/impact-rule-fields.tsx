import { useSession } from '../../../api/session'
import { linesOf, textOf } from '../../../components/action-dialog'
import { CheckboxField, TextArea, TextField } from '../../../components/fields'
import type { ImpactRule } from '../../../generated/types.gen'
import { measures, nameOf } from '../deployments/impact-text'

const tiers: ImpactRule['tiers'] = ['production', 'staging', 'testing', 'development', 'other']

/** Returns a function that makes a rule for the API from the values of the fields. */
export function useRuleOf() {
  const isAdministrator = useSession().user?.is_admin === true
  return (form: FormData): Partial<ImpactRule> => {
    const confidence = numberOf(form, 'confidence')
    return {
      name: textOf(form, 'name'),
      services: linesOf(form, 'services'),
      measures: form.getAll('measures') as ImpactRule['measures'],
      environments: linesOf(form, 'environments'),
      tiers: form.getAll('tiers') as ImpactRule['tiers'],
      ratio_min: numberOf(form, 'ratio'),
      confidence_min: confidence === null ? null : decimalOf(confidence / 100),
      freeze: form.has('freeze'),
      banner_message: textOf(form, 'banner') || null,
      ...(isAdministrator ? { banner_target_path: linesOf(form, 'target').join('\n') || null } : {}),
      webhook: form.has('webhook'),
      ...(form.has('is_new') ? { dry_run: form.has('dry_run') } : {}),
    }
  }
}

/** Rounds binary fractions: 99.9 / 100 would be 0.9990000000000001. */
const decimalOf = (value: number) => Number(value.toPrecision(12))

export const percentOf = (share: number) => decimalOf(share * 100)

const numberOf = (form: FormData, name: string) => {
  const text = textOf(form, name)
  return text === '' ? null : Number(text)
}

/** @param rule unset: a new rule */
export function RuleFields({ rule }: { rule?: ImpactRule }) {
  const isAdministrator = useSession().user?.is_admin === true
  return (
    <>
      <TextField label="Name of the rule" name="name" required maxLength={255} defaultValue={rule?.name} />
      <fieldset className="mb-3">
        <legend className="mb-1 text-sm font-medium">When (none: whatever becomes worse)</legend>
        {measures.map((measure) => (
          <CheckboxField
            key={measure}
            label={nameOf({ measure })}
            name="measures"
            value={measure}
            defaultChecked={rule?.measures.includes(measure)}
          />
        ))}
      </fieldset>
      <TextArea
        label="In these services"
        name="services"
        rows={2}
        placeholder={'billing\nmail'}
        hint="One name a line. Empty: in any service"
        defaultValue={rule?.services.join('\n')}
      />
      <TextArea
        label="With deployments to these environments"
        name="environments"
        rows={2}
        placeholder="production/eu"
        hint="One name a line. Empty, and no tier: to any environment that is compared"
        defaultValue={rule?.environments.join('\n')}
      />
      <fieldset className="mb-3">
        <legend className="mb-1 text-sm font-medium">Or to environments of these tiers</legend>
        {tiers.map((tier) => (
          <CheckboxField
            key={tier}
            label={tier}
            name="tiers"
            value={tier}
            defaultChecked={rule?.tiers.includes(tier)}
          />
        ))}
      </fieldset>
      <Amounts rule={rule} />
      <Actions rule={rule} isAdministrator={isAdministrator} />
      {!rule && (
        <>
          <input type="hidden" name="is_new" value="1" />
          <CheckboxField label="Dry run: only note what it would do" name="dry_run" defaultChecked />
        </>
      )}
    </>
  )
}

const Amounts = ({ rule }: { rule: ImpactRule | undefined }) => (
  <>
    <TextField
      label="Least growth"
      name="ratio"
      type="number"
      min={1}
      step="any"
      placeholder="3"
      hint="3: three times as much as before. Empty: any"
      defaultValue={rule?.ratio_min ?? ''}
    />
    <TextField
      label="Least confidence in percent"
      name="confidence"
      type="number"
      min={0}
      max={100}
      step="any"
      placeholder="99.999"
      hint="Empty: any"
      defaultValue={rule?.confidence_min == null ? '' : percentOf(rule.confidence_min)}
    />
  </>
)

const Actions = ({ rule, isAdministrator }: { rule: ImpactRule | undefined; isAdministrator: boolean }) => (
  <fieldset className="mb-3">
    <legend className="mb-1 text-sm font-medium">Then</legend>
    <CheckboxField label="freeze the environment" name="freeze" defaultChecked={rule?.freeze} />
    <CheckboxField label="tell the webhooks for rules" name="webhook" defaultChecked={rule?.webhook} />
    <TextArea
      label="Show a banner"
      name="banner"
      rows={2}
      maxLength={1000}
      placeholder="**{{environment}}** is frozen: {{services}} became worse. [Deployment #{{deployment}}]({{url}})"
      hint="Markdown with {{rule}}, {{project}}, {{environment}}, {{deployment}}, {{ref}}, {{services}} and {{url}}. Everybody may read banners. Empty: none"
      defaultValue={rule?.banner_message ?? ''}
    />
    {isAdministrator && (
      <TextArea
        label="Pages of the banner"
        name="target"
        rows={2}
        maxLength={255}
        placeholder={'/shop\n/shop/*'}
        hint="Paths, one a line; * stands for anything. Empty: the pages of the project in this console"
        defaultValue={rule?.banner_target_path ?? ''}
      />
    )}
  </fieldset>
)
