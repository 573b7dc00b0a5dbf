'use client'
import { SideBySide, type Sides } from '../../_versioned/side-by-side'
import { toolDifferences } from './tool-differences'
import type { ToolForm } from './tool-form'

/** Two versions of a tool. */
export function ToolSideBySide({ before, now, sides }: { before: ToolForm; now: ToolForm; sides: Sides }) {
  return <SideBySide differences={toolDifferences(before, now)} sides={sides} />
}
