import { z } from 'zod'
import { MAX_PLACE } from '../../definition/branches'
import { isId } from '../../ids'
import { SearchText } from '../../query/search-text'

const Id = z.string().refine(isId, 'is not an id')

const TASK_TYPES = ['collect_inputs', 'request_user_action'] as const

export const TaskFilter = z.object({
  workflowId: Id.optional(),
  type: z.enum(TASK_TYPES).optional(),
  /** Part of the title, the workflow's name or the run's business key. */
  q: SearchText.optional(),
  /** Also tasks of test runs of a draft. */
  tests: z.boolean().optional(),
})
export type TaskFilter = z.infer<typeof TaskFilter>

const VIEWS = ['open', 'mine', 'roles', 'done'] as const

export const ListTasks = TaskFilter.extend({
  /**
   * `mine` and `roles` are open tasks: claimed by the caller or assigned to them by name and unclaimed, or assigned to
   * their role and unclaimed. The default is all open tasks.
   */
  view: z.enum(VIEWS).optional(),
  /** Of the answered ones, only those the caller answered. */
  byMe: z.boolean().optional(),
  sort: z.enum(['oldest', 'newest']).optional(),
  limit: z.number().int().min(1).max(100).optional(),
  cursor: z.string().max(800).nullish(),
})
export type ListTasks = z.input<typeof ListTasks>

export const CountTasks = TaskFilter
export type CountTasks = z.input<typeof CountTasks>

export const GetTask = z.object({
  runId: z.string().max(100),
  /** Or the id of a step, for its latest pause. */
  pauseId: z.string().max(MAX_PLACE),
})
export type GetTask = z.input<typeof GetTask>
