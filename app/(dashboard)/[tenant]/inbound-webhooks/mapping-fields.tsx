'use client'
import { Fieldset, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { isRequired } from '@/server/definition/fields'
import type { Field } from '@/server/definition/schema'
import { typeWords } from '../_arguments/type-words'
import { ExpressionInput } from '../workflows/[id]/widgets/expression-input'

/** An expression for each START field of a workflow. */
export function MappingFields(props: {
  workflowId: string
  mapping: Record<string, string>
  /** An update function, because several fields may change concurrently when they lose the focus. */
  onChange: (change: (mapping: Record<string, string>) => Record<string, string>) => void
  problem: (path: string) => string | undefined
}) {
  const { workflowId, mapping, onChange, problem } = props
  const trpc = useTRPC()
  const { data, error } = useQuery(trpc.inbound.fields.queryOptions({ workflowId }))
  if (error) return <ErrorState error={error} />
  if (!data) return <Skeleton height={80} radius="md" />
  const fields = Object.entries(data.data.payload)
  // A field that START no longer has can only be removed.
  const stale = Object.keys(mapping).filter((name) => !fields.some(([known]) => known === name))
  return (
    <Fieldset legend="START fields">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          Each is an expression over {'${body…}'}, {'${headers…}'} and {'${query…}'}. An empty one takes the field of
          the body with the same name.
        </Text>
        {fields.length === 0 && stale.length === 0 && <Text size="sm">START has no fields.</Text>}
        {fields.map(([name, field]) => (
          <ExpressionInput
            key={name}
            name={name}
            label={name}
            description={describe(field)}
            withAsterisk={isRequired(field)}
            placeholder={`\${body.${name}}`}
            error={problem(`mapping.${name}`)}
            value={mapping[name] ?? ''}
            onChange={(text) => onChange((now) => ({ ...now, [name]: text }))}
            wanted={field.type}
            readOnly={false}
          />
        ))}
        {stale.map((name) => (
          <TextInput
            key={name}
            label={name}
            description="START no longer has this field. Clear it to remove it."
            classNames={{ input: 'mono' }}
            error={problem(`mapping.${name}`)}
            value={mapping[name] ?? ''}
            onChange={(event) => {
              const text = event.currentTarget.value
              onChange(({ [name]: _gone, ...others }) => (text === '' ? others : { ...others, [name]: text }))
            }}
          />
        ))}
      </Stack>
    </Fieldset>
  )
}

/** As in the form that starts a run. */
function describe({ type, description }: Field): string {
  return description ? `${description} (${typeWords(type)})` : typeWords(type)
}
