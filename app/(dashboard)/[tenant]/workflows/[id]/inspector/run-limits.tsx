import { NumberInput } from '@mantine/core'
import { DurationInput } from '@/app/_ui/duration-input'
import type { Definition } from '@/server/definition/schema'
import { isCostLimit, isTimeLimit, isTokenLimit } from '@/server/definition/settings'
import { useCommitted } from '../draft/use-committed'
import { setLimits } from '../model/edit-settings'

interface Props {
  definition: Definition
  onRedefine: (label: string, command: (definition: Definition) => Definition, target?: string) => void
  readOnly: boolean
}

type Name = 'timeoutMs' | 'tokens' | 'cost'

/** How long a run may take, and what its agents may use together. */
export function RunLimits({ readOnly, ...props }: Props) {
  const time = useLimit(props, 'timeoutMs')
  const tokens = useLimit(props, 'tokens')
  const cost = useLimit(props, 'cost')
  return (
    <>
      <DurationInput
        id="step-field-limits.timeoutMs"
        label="Time limit of a run"
        help="From its start, including waits. After that, the run fails as timed out."
        placeholder="No limit"
        unset="d"
        value={time.text === '' ? undefined : Number(time.text)}
        problem={time.isRight ? null : 'Enter at least 1 second and at most 10 years.'}
        readOnly={readOnly}
        onChange={(ms) => time.setText(ms === undefined ? '' : String(ms))}
        onBlur={time.flush}
      />
      <NumberInput
        id="step-field-limits.agents.tokens"
        label="Tokens of all agents of a run"
        description="They stop at the first call of a model after that."
        placeholder="No limit"
        min={1}
        allowDecimal={false}
        thousandSeparator=","
        value={tokens.text}
        error={tokens.isRight ? null : 'Enter at least 1 and at most 1,000,000,000,000.'}
        readOnly={readOnly}
        onChange={(value) => tokens.setText(String(value))}
        onBlur={tokens.flush}
      />
      <NumberInput
        id="step-field-limits.agents.cost"
        label="US dollars of all agents of a run"
        placeholder="No limit"
        min={0}
        thousandSeparator=","
        value={cost.text}
        error={cost.isRight ? null : 'Enter more than 0 and at most 1,000,000.'}
        readOnly={readOnly}
        onChange={(value) => cost.setText(String(value))}
        onBlur={cost.flush}
      />
    </>
  )
}

const LIMITS: Record<Name, { is: (value: unknown) => boolean; called: string }> = {
  timeoutMs: { is: isTimeLimit, called: 'the time limit' },
  tokens: { is: isTokenLimit, called: 'the limit of tokens' },
  cost: { is: isCostLimit, called: 'the limit of cost' },
}

function useLimit({ definition, onRedefine }: Omit<Props, 'readOnly'>, name: Name) {
  const { is, called } = LIMITS[name]
  const { timeoutMs, agents } = definition.limits ?? {}
  const saved = { timeoutMs, ...agents }[name]
  const { text, setText, flush } = useCommitted(String(saved ?? ''), (next) => {
    if (next !== '' && !is(Number(next))) return
    const value = next === '' ? undefined : Number(next)
    const label = `${value === undefined ? 'remove' : 'change'} ${called}`
    onRedefine(label, (before) => setLimits(before, { [name]: value }), `limit ${name}`)
  })
  return { text, setText, flush, isRight: text === '' || is(Number(text)) }
}
