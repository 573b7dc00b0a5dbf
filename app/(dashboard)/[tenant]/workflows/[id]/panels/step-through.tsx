'use client'
import { Button, Group, Kbd, Skeleton, Stack, Text, Tooltip } from '@mantine/core'
import { ChevronLeft, CircleDot, FastForward, RotateCcw, StepForward } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { shortcutKey } from '@/app/_ui/keys'
import { singleKeysAllowed } from '@/app/_ui/single-keys'
import type { Definition } from '@/server/definition/schema'
import { placeKey } from '@/server/definition/verdict'
import type { Catalog } from '@/server/steps/catalog'
import { StartForm } from '../../start-form'
import { readTyped, typedFor } from '../../start-values'
import type { SaveNow } from '../actions/screen'
import { findStep, stepLabel } from '../model/definition'
import { DraftError } from '../parts/draft-error'
import { toggleBreakpoint } from '../parts/step-marks'
import type { TestRunState } from '../parts/test-state'
import styles from './step-through.module.css'
import { NextVisit } from './step-through-next'
import { withoutFiles } from './step-through-outcome'
import { backTo } from './step-through-store'
import { PassedVisits } from './step-through-visits'
import { type StepThroughState, useStepThrough } from './use-step-through'

export interface StepThroughProps {
  workflowId: string
  definition: Definition
  catalog: Catalog
  /** The selected step, or START. */
  selected: string | null
  test: TestRunState
  save: SaveNow
  onSelect: (stepId: string) => void
}

/** A debugger of the draft: it stands before each step, and the user says what calls and people give. */
export function StepThroughPanel(props: StepThroughProps) {
  const { workflowId, definition, catalog, selected, save, onSelect } = props
  const stepping = useStepThrough(workflowId, definition, save)
  const { session, stood, busy, breakpoints } = stepping
  const next = stood?.next ?? null
  const root = useRef<HTMLDivElement>(null)
  const mayStep = next !== null && !busy && passesAlone(next)
  const atBreakpoint = selected !== null && findStep(definition, selected) ? selected : (next?.step ?? null)

  const step = (to: 'each' | 'breakpoint') => {
    if (session && mayStep) stepping.go({ ...session, passed: session.passed + 1 }, to)
  }
  const back = () => {
    if (session && stood && session.passed > 0 && !busy) stepping.go(backTo(session, stood, session.passed - 1))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'F10' || event.key === 'F5') step(event.key === 'F10' ? 'each' : 'breakpoint')
    else if (shortcutKey(event) === 'b' && singleKeysAllowed(event.nativeEvent) && atBreakpoint !== null)
      toggleBreakpoint(atBreakpoint)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  // The button that was pressed may be gone; the keys work while the focus is here.
  useEffect(() => {
    if (stood && document.activeElement === document.body) root.current?.focus()
  }, [stood])
  const shown = next?.step ?? null
  const place = next && placeKey(next.at)
  const select = useRef(onSelect)
  select.current = onSelect
  useEffect(() => {
    if (place === null || shown === null) return
    select.current(shown)
    // The next step may be far above the button that was pressed.
    root.current?.closest('section')?.scrollTo({ top: 0 })
  }, [place, shown])

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its keys are those of buttons in it
    <div ref={root} className={styles.panel} tabIndex={-1} onKeyDown={onKeyDown}>
      {!session ? (
        <Begin {...props} stepping={stepping} />
      ) : (
        <>
          <Group gap="xs" className={styles.bar ?? ''} role="toolbar" aria-label="Step through">
            <Act label="Step" keys="F10" icon={StepForward} disabled={!mayStep} onClick={() => step('each')} main />
            <Act
              label="Continue"
              keys="F5"
              title="To the next breakpoint, question or call"
              icon={FastForward}
              disabled={!mayStep}
              onClick={() => step('breakpoint')}
            />
            <Act label="Back" icon={ChevronLeft} disabled={busy || session.passed === 0} onClick={back} />
            <Act label="Start over" icon={RotateCcw} onClick={stepping.clear} />
            {atBreakpoint !== null && (
              <Button
                size="xs"
                variant="default"
                aria-pressed={breakpoints.includes(atBreakpoint)}
                leftSection={<CircleDot size={16} aria-hidden className={styles.dot ?? ''} />}
                rightSection={<Key keys="B" />}
                onClick={() => toggleBreakpoint(atBreakpoint)}
              >
                Breakpoint at {stepLabel(definition, atBreakpoint)}
              </Button>
            )}
          </Group>
          <p className="visually-hidden" role="status">
            {busy
              ? ''
              : next
                ? `Next: ${stepLabel(definition, next.step)}`
                : stood?.end
                  ? 'The run would end here.'
                  : ''}
          </p>
          <Problem stepping={stepping} definition={definition} catalog={catalog} />
          <div className={styles.columns}>
            <PassedVisits
              {...{ session, stood, definition, catalog, busy }}
              onBack={(nth) => stood && stepping.go(backTo(session, stood, nth))}
            />
            {stood ? (
              <NextVisit
                key={place ?? 'end'}
                {...{ workflowId, definition, catalog, session, stood, busy, save }}
                onGo={stepping.go}
              />
            ) : (
              !stepping.error && !stepping.unsaved && <Skeleton height={120} radius="md" />
            )}
          </div>
        </>
      )}
    </div>
  )
}

/** Whether the next visit needs nothing that a person says. */
function passesAlone({ does, problem }: NonNullable<NonNullable<StepThroughState['stood']>['next']>): boolean {
  return problem === null && !['calls', 'asks', 'waits for an event', 'runs'].includes(does)
}

function Act(props: {
  label: string
  keys?: string
  title?: string
  icon: typeof RotateCcw
  disabled?: boolean
  main?: boolean
  onClick: () => void
}) {
  const { label, keys, title, icon: Icon, disabled = false, main = false, onClick } = props
  const button = (
    <Button
      size="xs"
      variant={main ? 'filled' : 'default'}
      leftSection={<Icon size={16} aria-hidden />}
      rightSection={keys && <Key keys={keys} />}
      aria-keyshortcuts={keys}
      disabled={disabled}
      onClick={onClick}
    >
      {label}
    </Button>
  )
  return title ? <Tooltip label={title}>{button}</Tooltip> : button
}

function Key({ keys }: { keys: string }) {
  return (
    <Kbd size="xs" className="with-keyboard" aria-hidden>
      {keys}
    </Kbd>
  )
}

function Problem({
  stepping: { unsaved, error },
  definition,
  catalog,
}: {
  stepping: StepThroughState
  definition: Definition
  catalog: Catalog
}) {
  if (unsaved)
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        The draft could not be saved, so it was not stepped through.
      </Text>
    )
  if (!error) return null
  return <DraftError error={error} title="The draft could not be stepped through" {...{ definition, catalog }} />
}

/** The START fields. */
function Begin({
  definition,
  catalog,
  test,
  stepping,
}: Pick<StepThroughProps, 'definition' | 'catalog' | 'test'> & { stepping: StepThroughState }) {
  const fields = useMemo(() => withoutFiles(definition.payload), [definition.payload])
  const typed = useMemo(() => typedFor(fields, test.typed), [fields, test.typed])
  const [errors, setErrors] = useState<Record<string, string>>({})
  return (
    <form
      noValidate
      aria-label="Step through"
      className={styles.begin}
      onSubmit={(event) => {
        event.preventDefault()
        const { data, errors } = readTyped(fields, typed)
        setErrors(errors)
        if (Object.keys(errors).length === 0) stepping.start(data)
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          Go through the draft one step at a time. Nothing is called and nobody is asked unless you say so: you see what
          each step would do, and you can type what it gives. This tab keeps it; nothing is stored.
        </Text>
        <StartForm fields={fields} typed={typed} errors={errors} onChange={test.type} focus={false} />
        <Problem stepping={stepping} definition={definition} catalog={catalog} />
        <div>
          <Button type="submit" leftSection={<StepForward size={16} aria-hidden />}>
            Start stepping
          </Button>
        </div>
      </Stack>
    </form>
  )
}
