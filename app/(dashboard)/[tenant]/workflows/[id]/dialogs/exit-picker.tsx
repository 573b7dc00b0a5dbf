'use client'
import { NativeSelect } from '@mantine/core'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { edgeAt, exitsOf, START, stepLabel } from '../model/definition'

/** Chooses an exit of a step that has several, and shows the present target of each. */
export function ExitPicker(props: {
  definition: Definition
  catalog: Catalog
  stepId: string
  exit: string
  onExit: (exit: string) => void
}) {
  const { definition, catalog, stepId, exit, onExit } = props
  const exits = stepId === START ? [] : exitsOf(definition, catalog, stepId)
  if (exits.length < 2) return null
  return (
    <NativeSelect
      label="Exit"
      data={exits.map(({ id, label }) => {
        const edge = edgeAt(definition, stepId, id)
        return { value: id, label: edge ? `${label} (now → ${stepLabel(definition, edge.to)})` : label }
      })}
      value={exit}
      onChange={(event) => onExit(event.currentTarget.value)}
    />
  )
}
