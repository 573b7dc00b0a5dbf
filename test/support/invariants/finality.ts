import type { Sql } from '@/db/index'
import type { Violation } from './rule'

/** Runs whose rows a test writes directly: neither the triggers nor the checker check them. */
export const FORGED = 'invariants_forged'

/** The triggers' refusals, by invariant. */
const REFUSALS: Record<string, string> = {
  i4: 'an answer, once given, never changes, and is taken once',
  i8: 'no column of an ended run changes, and no step begins in it',
  i14: 'an ended record never changes',
  i16: 'a walk never goes back, and its segment never changes hands',
  i32: 'an entry of the audit log never changes',
}

const TRIGGERS = `
  create table if not exists ${FORGED} (run_id text primary key);
  ${Object.keys(REFUSALS)
    .map((name) => `create sequence ${sequenceOf(name)};`)
    .join('\n')}
  create function refuse_unless_forged(invariant text, run text, what text) returns void language plpgsql as $$
  begin
    if exists (select 1 from ${FORGED} f where f.run_id = run) then return; end if;
    perform nextval('invariants_refused_' || invariant);
    raise exception '%: %', upper(invariant), what;
  end $$;

  create function ended_run_changes() returns trigger language plpgsql as $$
  begin
    if to_jsonb(new) is distinct from to_jsonb(old) then
      perform refuse_unless_forged('i8', old.id, 'the run ' || old.id || ' has ended and cannot change');
    end if;
    return new;
  end $$;
  create trigger ended_run_changes before update on runs for each row when (old.end_time is not null)
    execute function ended_run_changes();

  create function ended_record_changes() returns trigger language plpgsql as $$
  begin
    if to_jsonb(new) is distinct from to_jsonb(old) then
      perform refuse_unless_forged('i14', old.run_id, old.step_id || ' of ' || old.run_id || ' has ended and cannot change');
    end if;
    return new;
  end $$;
  create trigger ended_record_changes before update on step_records for each row when (old.end_time is not null)
    execute function ended_record_changes();

  -- Written so that the index of ended runs does not apply: planned while there were none, it would read all of them for
  -- each step from then on.
  create function step_begins_after_end() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from runs r where r.tenant_id = new.tenant_id and r.id = new.run_id
      and coalesce(r.end_time, 'infinity') < 'infinity' and (new.end_time is null or new.start_time > r.end_time)) then
      perform refuse_unless_forged('i8', new.run_id, new.step_id || ' began in the ended run ' || new.run_id);
    end if;
    return new;
  end $$;
  create trigger step_begins_after_end before insert on step_records for each row
    execute function step_begins_after_end();

  create function answer_changes() returns trigger language plpgsql as $$
  begin
    if old.answer is distinct from new.answer or old.answered_by is distinct from new.answered_by
      or (old.consumed_at is not null and old.consumed_at is distinct from new.consumed_at) then
      perform refuse_unless_forged('i4', old.run_id, 'the answer to ' || old.id || ' of ' || old.run_id || ' was given');
    end if;
    return new;
  end $$;
  create trigger answer_changes before update on pauses for each row when (old.answered_at is not null)
    execute function answer_changes();

  create function walk_goes_back() returns trigger language plpgsql as $$
  begin
    if new.epoch < old.epoch or new.segment < old.segment or (old.status = 'ended' and new.status <> 'ended')
      or (old.status = 'walking' and new.status = 'walking' and new.epoch = old.epoch and new.segment = old.segment
        and new.engine_run_id is distinct from old.engine_run_id) then
      perform refuse_unless_forged('i16', old.run_id, 'the walk ' || old.branch || ' of ' || old.run_id || ' goes back');
    end if;
    return new;
  end $$;
  create trigger walk_goes_back before update on walks for each row execute function walk_goes_back();

  create function audit_entry_changes() returns trigger language plpgsql as $$
  begin
    perform refuse_unless_forged('i32', old.thing_id, 'the entry ' || old.id || ' cannot change');
    return new;
  end $$;
  create trigger audit_entry_changes before update on audit_entries for each row execute function audit_entry_changes();`

/**
 * Makes a test database refuse forbidden changes, at the statement that tries one. A refusal rolls back with its
 * transaction and the product may well recover, so each is also counted, by sequences, which no rollback undoes; the
 * checker reports them. Nothing may change a run after its end: retention, and the end of a workspace, delete its rows.
 */
export async function installFinality(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    // Two processes may start on one database concurrently.
    await tx`select pg_advisory_xact_lock(hashtext('finality'))`
    const installed = await tx`select 1 from pg_trigger where tgname = 'ended_run_changes'`
    if (installed.length === 0) await tx.unsafe(TRIGGERS)
  })
}

/** Exempts these runs from triggers and checker, because a test writes them directly. */
export async function forge(sql: Sql, runIds: string[]): Promise<void> {
  await sql.unsafe(`create table if not exists ${FORGED} (run_id text primary key)`)
  await sql`insert into invariants_forged select * from unnest(${runIds}::text[]) on conflict do nothing`
}

/** The refusals of the triggers so far. */
export async function refused(sql: Sql): Promise<Violation[]> {
  const rows = await sql<{ name: string; times: string }[]>`
    select sequencename as name, last_value as times from pg_sequences
    where sequencename like 'invariants\\_refused\\_%' and last_value is not null`
  return rows.map(({ name, times }) => {
    const invariant = name.slice(sequenceOf('').length)
    return { name: invariant.toUpperCase(), says: REFUSALS[invariant] ?? '', where: `refused ${times} times` }
  })
}

function sequenceOf(invariant: string): string {
  return `invariants_refused_${invariant}`
}
