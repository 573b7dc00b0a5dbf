'use client'
import { ActionIcon, Button, Radio, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { pathText } from '@/server/definition/json'
import type { Expected } from '@/server/definition/test-case'
import { draftOf, type ExpectedDraft, readExpected } from './expected-draft'
import styles from './test-cases.module.css'

/** In the order and words of the dialog that creates a test case. */
const LABELS: Record<Expected['kind'], string> = {
  equals: 'Exactly this result',
  fields: 'These fields',
  contains: 'An answer that contains a text',
  succeeds: 'Succeeds with any result',
  fails: 'Fails',
}
const ORDER = Object.keys(LABELS) as Expected['kind'][]

/** Changes what a test case expects. */
export function ExpectedDialog(props: {
  name: string
  expected: Expected
  /** The kinds of expectation that suit its tool or agent. */
  kinds: readonly Expected['kind'][]
  change: (expected: Expected) => Promise<unknown>
  onClose: () => void
}) {
  const { onClose } = props
  const [draft, setDraft] = useState(() => draftOf(props.expected))
  const [problem, setProblem] = useState<{ at: string; text: string } | null>(null)
  const change = useMutation({ mutationFn: props.change, onSuccess: onClose })
  // Fields belong to a result, so only a case that has some can expect them.
  const hasFields = draft.fields.length > 0 || draft.kind === 'fields'
  const kinds = ORDER.filter((kind) => props.kinds.includes(kind) && (kind !== 'fields' || hasFields))
  const ofAgent = props.kinds.includes('contains')
  const edit = (part: Partial<ExpectedDraft>) => {
    setDraft({ ...draft, ...part })
    setProblem(null)
  }
  const errorAt = (at: string) => (problem?.at === at ? problem.text : undefined)
  const input = {
    succeeds: null,
    fails: (
      <TextInput
        label="Code"
        description="Leave empty for any failure"
        maxLength={100}
        value={draft.code}
        onChange={(event) => edit({ code: event.currentTarget.value })}
      />
    ),
    fields: (
      <Stack gap="xs">
        {draft.fields.map(({ path, type, text }, index) => {
          const name = pathText(path)
          const change = (next: string) =>
            edit({ fields: draft.fields.map((field, at) => (at === index ? { ...field, text: next } : field)) })
          return (
            <div key={name} className={styles.field}>
              <TextInput
                label={<span className="mono">{name}</span>}
                aria-label={type === 'json' ? `${name}, as JSON` : name}
                value={text}
                error={errorAt(name)}
                onChange={(event) => change(event.currentTarget.value)}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                aria-label={`Remove ${name} from what is expected`}
                disabled={draft.fields.length === 1}
                onClick={() => edit({ fields: draft.fields.filter((_, at) => at !== index) })}
              >
                <Trash2 size={16} aria-hidden />
              </ActionIcon>
            </div>
          )
        })}
      </Stack>
    ),
    equals: (
      <Textarea
        aria-label="Result as JSON"
        autosize
        maxRows={16}
        classNames={{ input: 'mono' }}
        value={draft.value}
        error={errorAt('value')}
        onChange={(event) => edit({ value: event.currentTarget.value })}
      />
    ),
    contains: (
      <Textarea
        aria-label="Text"
        description="In upper or lower case"
        autosize
        maxLength={1_000}
        value={draft.text}
        error={errorAt('text')}
        onChange={(event) => edit({ text: event.currentTarget.value })}
      />
    ),
  }
  return (
    <Dialog onClose={onClose} title={`Edit what “${props.name}” expects`} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const read = readExpected(draft)
          if ('problem' in read) setProblem(read.problem)
          else change.mutate(read.expected)
        }}
        noValidate
      >
        <Stack>
          <Radio.Group
            label="Expected"
            value={draft.kind}
            onChange={(kind) => edit({ kind: kinds.find((one) => one === kind) ?? draft.kind })}
          >
            <Stack gap="sm" mt="xs">
              {kinds.map((kind) => (
                <div key={kind}>
                  <Radio value={kind} label={ofAgent && kind === 'succeeds' ? 'Any answer' : LABELS[kind]} />
                  {kind === draft.kind && input[kind] && <div className={styles.input}>{input[kind]}</div>}
                </div>
              ))}
            </Stack>
          </Radio.Group>
          {change.error && <ErrorState error={change.error} title="The test case was not changed" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
