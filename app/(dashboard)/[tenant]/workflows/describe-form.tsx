'use client'
import { Button, Group, List, NativeSelect, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import { CircleX, KeyRound, LoaderCircle } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { Notice } from '@/app/_ui/notice'
import { onSendKey } from '@/app/_ui/send-key'
import { onTick } from '@/app/_ui/ticks'
import motion from '@/app/_ui/turning.module.css'
import { useFirstFocus } from '@/app/_ui/use-first-focus'
import type { Definition } from '@/server/definition/schema'
import type { Problem } from '@/server/workflows/check/problem'
import { useTenant } from '../tenant-context'
import { inWords } from './[id]/model/problem-words'
import { useDescribe } from './use-describe'

/** The limits of the server. */
const MAX_TEXT = 20_000
const MAX_SHOWN = 12

const NEW = {
  label: 'Your process',
  help: 'Who does what, in which order, and what depends on what.',
  example:
    'Someone asks for a refund, with a reason and an amount. Over 1,000 an admin decides. Then somebody pays it out.',
}
const CHANGE = {
  label: 'The change',
  help: 'What to add, change or remove. Everything else stays as it is.',
  example: 'Add an approval by an admin over 1,000.',
}

export interface DescribeFormProps {
  /** The draft to draw or to change; null for a workflow that does not exist yet. */
  draft: Definition | null
  /** The text of the button. */
  action: string
  /** Gets a draft that can be published. */
  onOffered: (definition: Definition) => void
  /** The draft is being applied. */
  busy: boolean
  /** Whether the field gets the focus when it appears. */
  focus: boolean
  onClose: () => void
}

/** A description in words, which a model of the workspace turns into a draft. */
export function DescribeForm({ draft, action, onOffered, busy, focus, onClose }: DescribeFormProps) {
  const { models, ask, asking, refused, error, onStop } = useDescribe(onOffered)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const known = models.data ?? []
  const model = known[chosen] ?? known[0]
  // The field appears after the dialog has opened, once the models are known.
  const form = useFirstFocus(focus && model !== undefined)
  const isChange = draft !== null && draft.steps.length > 0
  const words = isChange ? CHANGE : NEW

  function send() {
    if (model && text.trim() !== '' && !asking && !busy) ask({ text, model, draft })
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    // In the inspector, the editor is around the dialog in React's tree.
    event.stopPropagation()
    send()
  }
  if (models.error)
    return (
      <ErrorState error={models.error} onRetry={() => void models.refetch()} title="The models could not be loaded" />
    )
  if (models.isPending) return <Skeleton height={260} />
  if (!model) return <NoModel onClose={onClose} />
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack>
        <Textarea
          label={words.label}
          description={words.help}
          placeholder={words.example}
          autosize
          minRows={6}
          maxRows={14}
          maxLength={MAX_TEXT}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onSendKey(send)}
          readOnly={asking !== null || busy}
        />
        {known.length > 1 && (
          <NativeSelect
            label="Model"
            data={known.map(({ label }, index) => ({ value: String(index), label }))}
            value={String(chosen)}
            onChange={(event) => setChosen(Number(event.currentTarget.value))}
            disabled={asking !== null || busy}
          />
        )}
        <Text size="sm" c="dimmed">
          {isChange ? 'Your words and this draft go' : 'Your words go'} to {model.label}, with the names of the
          workspace’s tools, agents, workflows and groups. Nothing is published.
        </Text>
        {asking && <Asking modelId={asking.model.modelId} since={asking.since} />}
        {refused && !asking && <Refused problems={refused.problems} attempts={refused.metadata.attempts} />}
        {error && !asking && <ErrorState error={error} title="There is no draft" />}
        <DialogButtons>
          <Button variant="default" onClick={asking ? onStop : onClose}>
            {asking ? 'Stop' : 'Cancel'}
          </Button>
          <Button type="submit" loading={asking !== null || busy} disabled={text.trim() === ''}>
            {action}
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}

function NoModel({ onClose }: { onClose: () => void }) {
  const { may, path } = useTenant()
  const isAdmin = may('secret:manage')
  return (
    <Stack>
      <Notice tone="info" icon={KeyRound} title="No model has a key yet">
        A model of your own turns the description into a draft.{' '}
        {isAdmin ? 'Add its key to the vault' : 'Ask an admin to add its key to the vault'}, as OPENAI_API_KEY,
        ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY. The model of an agent with a server or a key of its own works
        too.
      </Notice>
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        {isAdmin && (
          <Button component={Link} href={path('/settings/vault')}>
            Open the vault
          </Button>
        )}
      </DialogButtons>
    </Stack>
  )
}

function Asking({ modelId, since }: { modelId: string; since: number }) {
  const [now, setNow] = useState(since)
  useEffect(() => onTick(1_000, setNow), [])
  const seconds = Math.max(0, Math.round((now - since) / 1_000))
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <LoaderCircle size={18} aria-hidden className={motion.turning} />
      <Text size="sm">
        <span role="status">
          {modelId} writes the draft. It is checked and simulated before you get it, which may take a minute.
        </span>{' '}
        <span aria-hidden>{seconds} s</span>
      </Text>
    </Group>
  )
}

function Refused({ problems, attempts }: { problems: readonly Problem[]; attempts: number }) {
  const tried = attempts === 1 ? 'The model’s answer' : `The last of the model’s ${attempts} answers`
  const more = problems.length - MAX_SHOWN
  return (
    <Notice tone="bad" icon={CircleX} title="No answer could be used" urgent>
      <Text size="sm">{tried} has these problems:</Text>
      <List size="sm" my="xs">
        {problems.slice(0, MAX_SHOWN).map((problem, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
          <List.Item key={index}>{textOf(problem)}</List.Item>
        ))}
        {more > 0 && <List.Item>and {more} more</List.Item>}
      </List>
      <Text size="sm">Describe it in more detail or in smaller parts, and try again. Your draft has not changed.</Text>
    </Notice>
  )
}

/** The steps are those of an answer that nobody sees, so their ids are all there is. */
function textOf({ message, stepId, field }: Problem): string {
  const text = inWords(message)
  if (stepId === undefined || message.includes(stepId)) return text
  return `${field ? `${field} of the step ${stepId}` : `The step ${stepId}`}: ${text}`
}
