'use client'
import { Select } from '@mantine/core'
import { useState } from 'react'
import { JsonView } from '@/app/_ui/json-view'
import type { PauseSignal } from '@/server/definition/run'
import type { Definition } from '@/server/definition/schema'
import { isSamePlace, type Place } from '@/server/definition/verdict'
import type { Words } from '@/server/definition/verdict-text'
import type { WalkedVisit } from '@/server/runs/what-if/ways'
import type { WhatIfAnswer } from '@/server/runs/what-if/what-if'
import type { RunOverview } from '@/server/views/runs/overview'
import { findStep, START } from '../../../workflows/[id]/model/definition'
import { CameForm } from './came-form'
import { type Changes, cameAt, fieldsBefore, withCame, withFields } from './changes'
import { FieldsForm } from './fields-form'
import styles from './what-if.module.css'

interface Props {
  answer: WhatIfAnswer
  definition: Definition
  changes: Changes
  words: Words
  answered: RunOverview['answers']
  selected: string | null
  onChange: (changes: Changes) => void
}

/** A step's visit on both sides, and what can be changed about it. */
export function StepSides(props: Props) {
  const { answer, definition, changes, words, selected, onChange } = props
  const [at, setAt] = useState(0)
  if (selected === null)
    return (
      <aside className={styles.panel} aria-label="Step">
        <p className={styles.note}>Choose a step to see both sides of it.</p>
      </aside>
    )
  if (selected === START) return <Start {...{ definition, changes, onChange }} />
  const places = placesOf(answer, selected)
  const place = places[at] ?? places[0]
  const name = words.step(selected)
  return (
    <aside className={styles.panel} aria-label={name}>
      <h2 className={styles.heading}>{name}</h2>
      {places.length > 1 && (
        <Select
          label="Visit"
          size="xs"
          data={places.map((one, nth) => ({ value: String(nth), label: placeText(one) }))}
          value={String(at)}
          allowDeselect={false}
          onChange={(value) => setAt(Number(value))}
        />
      )}
      {place ? (
        <Visit key={JSON.stringify(place)} {...props} place={place} />
      ) : (
        <p className={styles.note}>Neither the run nor the what if comes to this step.</p>
      )}
    </aside>
  )
}

function Visit({ answer, definition, changes, words, place, onChange }: Props & { place: Place }) {
  const find = (visits: readonly WalkedVisit[]) => visits.find((visit) => isSamePlace(visit.place, place))
  const [real, other] = [find(answer.real.visits), find(answer.other.visits)]
  const type = findStep(definition, place.stepId)?.type ?? ''
  const reaches = (other ?? real)?.asked !== undefined && type !== 'delay'
  return (
    <>
      <div className={styles.sides}>
        <Side title="In the run" visit={real} words={words} />
        <Side title="What if" visit={other} words={words} />
      </div>
      {reaches && (
        <CameForm
          {...{ type, words }}
          name={words.step(place.stepId)}
          real={real?.came}
          signal={other?.signal as unknown as PauseSignal | undefined}
          changed={cameAt(changes, place)}
          onChange={(came) => onChange(withCame(changes, place, came))}
        />
      )}
      <FieldsForm
        title={`Change a field before ${words.step(place.stepId)}`}
        names={[]}
        fields={fieldsBefore(changes, place)}
        onChange={(fields) => onChange(withFields(changes, place, fields))}
      />
    </>
  )
}

const STATES = {
  'as it was': 'As it was',
  assumed: 'Assumed',
  changed: 'Changed by you',
  unknown: 'Not known',
  new: 'New',
} as const

function Side({ title, visit, words }: { title: string; visit: WalkedVisit | undefined; words: Words }) {
  return (
    <section className={styles.side} aria-label={title}>
      <h3 className={styles.subheading}>{title}</h3>
      {!visit && <p className={styles.note}>Does not come here.</p>}
      {visit && title !== 'In the run' && <p className={styles.note}>{STATES[visit.state]}</p>}
      {visit?.exit != null && visit.exit !== 'next' && (
        <p className={styles.text}>
          Exit: <strong>{words.exit(visit.place.stepId, visit.exit)}</strong>
        </p>
      )}
      {visit?.tooLarge && <p className={styles.note}>Too large to show here.</p>}
      {visit?.came && <Came came={visit.came} label={`What it gave, ${title.toLowerCase()}`} />}
      {visit?.asked && (
        <details>
          <summary className={styles.summary}>What it was asked</summary>
          <JsonView value={visit.asked} label={`What it was asked, ${title.toLowerCase()}`} openDepth={1} />
        </details>
      )}
    </section>
  )
}

function Came({ came, label }: { came: NonNullable<WalkedVisit['came']>; label: string }) {
  if ('failed' in came)
    return (
      <p className={styles.text}>
        Failed: {came.failed.message} ({came.failed.code})
      </p>
    )
  return <JsonView value={'answer' in came ? came.answer : came.output} label={label} openDepth={2} />
}

function Start({ definition, changes, onChange }: Pick<Props, 'definition' | 'changes' | 'onChange'>) {
  return (
    <aside className={styles.panel} aria-label="Start">
      <h2 className={styles.heading}>Start</h2>
      <FieldsForm
        title="Change what the run started with"
        names={Object.keys(definition.payload)}
        fields={changes.input}
        onChange={(input) => onChange({ ...changes, input })}
      />
    </aside>
  )
}

/** The visits of a step on either side, in the order of the what if. */
function placesOf({ real, other }: WhatIfAnswer, stepId: string): Place[] {
  const of = (visits: readonly WalkedVisit[]) => visits.flatMap(({ place }) => (place.stepId === stepId ? [place] : []))
  const now = of(other.visits)
  return [...now, ...of(real.visits).filter((place) => !now.some((one) => isSamePlace(one, place)))]
}

function placeText({ branch, visit }: Place): string {
  return branch === 'main' ? `Visit ${visit}` : `Visit ${visit} in ${branch}`
}
