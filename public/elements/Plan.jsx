import { useState } from 'react';
import { Check, Circle, GitBranch, Loader, Minus, Pencil, Play, RotateCcw, SkipForward, X } from 'lucide-react';

const ICONS = { open: Circle, running: Loader, done: Check, failed: X, skipped: Minus };

// A place is mentioned in the task as it is; any other answer follows its question.
const withAnswers = (task, questions, answers) => [
  task,
  ...questions.filter((q) => answers[q.question]).map((q) => (answers[q.question].startsWith('@') ? answers[q.question] : `${q.question} ${answers[q.question]}.`)),
].join('\n');

// Text with its `code` as such.
const withCode = (text) => text.split('`').map((piece, n) => (n % 2 ? <code key={n}>{piece}</code> : piece));

function Questions({ questions, task, words, lead, sendUserMessage }) {
  const [answers, setAnswers] = useState({});
  if (!questions.length) return null;
  const answered = withAnswers(task, questions, answers);
  return (
    <div className="rp-questions">
      <div className="rp-muted">{lead}</div>
      {questions.map((q) => (
        <div key={q.question} className="rp-row rp-tight">
          <span>{withCode(q.question)}</span>
          {q.options.map((option) => (
            <button key={option} className={answers[q.question] === option ? 'rp-button rp-round rp-primary' : 'rp-button rp-round'} aria-pressed={answers[q.question] === option}
              onClick={() => setAnswers({ ...answers, [q.question]: option })}>{option}</button>
          ))}
        </div>
      ))}
      <div className="rp-row">
        <button className="rp-button" disabled={!Object.keys(answers).length} onClick={() => sendUserMessage(answered, 'plan')}>{words.plan_again}</button>
      </div>
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Plan = (window.repopilotPlan ||= function ({ props, callAction, sendUserMessage }) {
  const { parts, words } = props;
  const [draft, setDraft] = useState(null);
  const [failed, setFailed] = useState('');
  const open = parts.filter((part) => part.state === 'open');
  const say = (text) => sendUserMessage(text, 'plan');
  const [branched, setBranched] = useState('');
  const branch = async () => {
    const result = await callAction({ name: 'create_plan_branch', payload: { answer: props.answer } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    setBranched(result?.response?.done || '');
  };
  const save = async () => {
    const result = await callAction({ name: 'edit_plan', payload: { answer: props.answer, lines: draft.split('\n') } });
    const error = result?.response?.error || (result?.success ? '' : props.words.no_answer);
    setFailed(error);
    if (!error) setDraft(null);
  };
  return (
    <section className="rp-plan rp-card">
      <div className="rp-head">
        <strong className="rp-title">{withCode(props.task)}</strong>
        <span className="rp-muted rp-number">{props.progress}</span>
      </div>
      <Questions questions={props.questions} task={props.task} words={words} lead={parts.length ? words.questions : words.missing} sendUserMessage={sendUserMessage} />
      {draft === null ? (
        <ol className="rp-parts">
          {parts.map((part) => {
            const Icon = ICONS[part.state];
            return (
              <li key={part.number} data-state={part.state}>
                <Icon size={15} className="rp-part-icon" aria-label={part.label} />
                <div className="rp-part-text">
                  <div>{part.number}. {withCode(part.title)}</div>
                  <div className="rp-muted rp-detail">{part.facts}</div>
                  {part.why && <div className="rp-muted rp-detail">{withCode(part.why)}</div>}
                  {part.acceptance.length > 0 && (
                    <div className="rp-detail">{words.must_hold} <ul className="rp-conditions">{part.acceptance.map((point) => <li key={point}>{point}</li>)}</ul></div>
                  )}
                  {part.note && <div className="rp-detail">{withCode(part.note)}</div>}
                </div>
                {(part.state === 'done' || part.state === 'failed' || part.state === 'skipped') && props.current && (
                  <span className="rp-row rp-tight">
                    <button className="rp-button" onClick={() => say(words.say_redo.replace('{number}', part.number))}><RotateCcw size={13} /> {words.redo}</button>
                  </span>
                )}
                {part.state === 'open' && props.current && (
                  <span className="rp-row rp-tight">
                    <button className="rp-button" onClick={() => say(words.say_part.replace('{number}', part.number))}><Play size={13} /> {words.do_part}</button>
                    <button className="rp-button" onClick={() => say(words.say_skip.replace('{number}', part.number))}><SkipForward size={13} /> {words.skip}</button>
                  </span>
                )}
              </li>
            );
          })}
        </ol>
      ) : (
        <textarea className="rp-input rp-edit" aria-label={words.edit_label} value={draft} rows={Math.max(4, parts.length + 1)} onChange={(e) => setDraft(e.target.value)} />
      )}
      {failed && <div className="rp-error">{failed}</div>}
      {branched && <div className="rp-muted" role="status">{branched}</div>}
      {props.current && parts.length > 0 && (
        <div className="rp-row">
          {draft === null ? (
            <>
              <button className="rp-button rp-primary" disabled={!open.length} onClick={() => say(words.say_next)}><Play size={14} /> {words.proceed}</button>
              <button className="rp-button" disabled={!open.length} onClick={() => say(words.say_all)}>{words.proceed_all}</button>
              {props.branch && <button className="rp-button" onClick={branch}><GitBranch size={13} /> {words.branch}</button>}
              <button className="rp-button" disabled={!open.length} onClick={() => setDraft(parts.map((part) => part.title).join('\n'))}><Pencil size={13} /> {words.edit}</button>
            </>
          ) : (
            <>
              <button className="rp-button rp-primary" disabled={!draft.trim()} onClick={save}>{words.save}</button>
              <button className="rp-button" onClick={() => setDraft(null)}>{words.discard}</button>
            </>
          )}
        </div>
      )}
      {!props.current && <div className="rp-muted rp-detail">{words.outdated}</div>}
    </section>
  );
});

export default <Plan props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
