'use client'
import { Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Definition } from '@/server/definition/schema'
import { useCommitted } from '../draft/use-committed'
import { nameOf } from '../model/definition'
import { setInitial, setMeta } from '../model/edit-settings'
import styles from './inspector.module.css'
import { RunLimits } from './run-limits'

/** The form of the workflow itself, shown while no step is selected. */
export function WorkflowPanel(props: {
  definition: Definition
  onRedefine: (label: string, command: (definition: Definition) => Definition, target?: string) => void
  readOnly: boolean
  /** It is the page, not the form beside a graph. */
  page?: boolean
}) {
  const { definition, onRedefine, readOnly, page = false } = props
  const { steps, initialStep, onCancel, onFailure, payload } = definition
  const name = useCommitted(definition.name, (text) => {
    if (text.trim() !== '')
      onRedefine('rename the workflow', (before) => setMeta(before, { name: text.trim() }), 'name')
  })
  const description = useCommitted(definition.description, (text) =>
    onRedefine('describe the workflow', (before) => setMeta(before, { description: text }), 'description'),
  )
  const key = useCommitted(definition.businessKey ?? '', (text) =>
    onRedefine('change the business key', (before) => setMeta(before, { businessKey: text.trim() || null }), 'key'),
  )
  const example = Object.keys(payload)[0] ?? 'orderId'
  // A draft may contain an id twice; the Select must not.
  const choices = [...new Map(steps.map((step) => [step.id, { value: step.id, label: nameOf(step) }])).values()]
  return (
    <Stack gap="md">
      {page ? (
        <Text size="sm" c="dimmed">
          Settings are part of the draft. Callers get them with the next version that is published.
        </Text>
      ) : (
        <h2 className={styles.title} id="inspector-title" tabIndex={-1}>
          Workflow
        </h2>
      )}
      <TextInput
        label="Name"
        maxLength={200}
        value={name.text}
        error={name.text.trim() === '' ? 'Enter a name.' : null}
        readOnly={readOnly}
        onChange={(event) => name.setText(event.currentTarget.value)}
        onBlur={name.flush}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={10}
        value={description.text}
        readOnly={readOnly}
        onChange={(event) => description.setText(event.currentTarget.value)}
        onBlur={description.flush}
      />
      <TextInput
        id="step-field-businessKey"
        label="Business key"
        description="How people recognise a run, such as by order number. Uses START fields."
        placeholder={`\${${example}}`}
        maxLength={500}
        value={key.text}
        readOnly={readOnly}
        onChange={(event) => key.setText(event.currentTarget.value)}
        onBlur={key.flush}
      />
      <RunLimits definition={definition} onRedefine={onRedefine} readOnly={readOnly} />
      {steps.length > 0 && (
        <>
          <Select
            id="step-field-initialStep"
            label="First step"
            description="The step that START leads to."
            data={choices}
            value={initialStep}
            allowDeselect={false}
            searchable
            readOnly={readOnly}
            onChange={(stepId) => stepId && onRedefine('change the first step', (before) => setInitial(before, stepId))}
          />
          <Select
            id="step-field-onCancel"
            label="When a run is cancelled"
            description="The first step of the cleanup path. No step on this path may wait for a person."
            placeholder="No cleanup"
            data={choices}
            value={onCancel ?? null}
            clearable
            searchable
            readOnly={readOnly}
            onChange={(stepId) =>
              onRedefine('change the cleanup path', (before) => setMeta(before, { onCancel: stepId }))
            }
          />
          <Select
            id="step-field-onFailure"
            label="When a run fails"
            description="The first step of the failure path. After it, the run ends as failed. Its steps can use ${error.message}."
            placeholder="No failure path"
            data={choices}
            value={onFailure ?? null}
            clearable
            searchable
            readOnly={readOnly}
            onChange={(stepId) =>
              onRedefine('change the failure path', (before) => setMeta(before, { onFailure: stepId }))
            }
          />
        </>
      )}
      {!page && (
        <Text size="sm" c="dimmed">
          Select a step to edit it.
        </Text>
      )}
    </Stack>
  )
}
