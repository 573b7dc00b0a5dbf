import type { Rule } from './rule'

export const versionRules: Rule[] = [
  {
    name: 'I45',
    says: 'a version of a workflow has a number once it was published, and later versions have higher ones',
    broken: `select workflow_id || ': version ' || version || ' has ' || coalesce('number ' || number, 'no number')
      from (
        select *, lag(number) over (partition by tenant_id, workflow_id order by version) as before
        from workflow_versions where published_at is not null or number is not null) numbered
      where published_at is null or number is null or number <= before`,
  },
]
