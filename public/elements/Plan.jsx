import { useState } from 'react';
import { Check, Circle, Minus, Pencil, Play, SkipForward, X } from 'lucide-react';

const ICONS = { open: Circle, done: Check, failed: X, skipped: Minus };

function Questions({ questions, plan, sendUserMessage }) {
  const [answers, setAnswers] = useState({});
  if (!questions.length) return null;
  const task = [plan.task, ...questions.filter((q) => answers[q.question]).map((q) => `${q.question} ${answers[q.question]}.`)].join('\n');
  return (
    <div className="rp-questions">
      <div className="rp-muted">Worth deciding first. Or skip this: just proceed.</div>
      {questions.map((q) => (
        <div key={q.question} className="rp-row rp-tight">
          <span>{q.question}</span>
          {q.options.map((option) => (
            <button key={option} className={answers[q.question] === option ? 'rp-button rp-round rp-primary' : 'rp-button rp-round'} aria-pressed={answers[q.question] === option}
              onClick={() => setAnswers({ ...answers, [q.question]: option })}>{option}</button>
          ))}
        </div>
      ))}
      <div className="rp-row">
        <button className="rp-button" disabled={!Object.keys(answers).length} onClick={() => sendUserMessage(task, 'plan')}>Plan again with these answers</button>
      </div>
    </div>
  );
}

// Chainlit runs this file anew at every update. The component is kept, so that React sees the same one and what the
// user typed or unfolded stays.
const Plan = (window.repopilotPlan ||= function ({ props, callAction, sendUserMessage }) {
  const { plan } = props;
  const [draft, setDraft] = useState(null);
  const [failed, setFailed] = useState('');
  const open = plan.parts.filter((part) => part.state === 'open');
  const done = plan.parts.filter((part) => part.state === 'done').length;
  const say = (text) => sendUserMessage(text, 'plan');
  const save = async () => {
    const result = await callAction({ name: 'edit_plan', payload: { answer: props.answer, lines: draft.split('\n') } });
    const error = result?.response?.error || (result?.success ? '' : 'The server did not answer.');
    setFailed(error);
    if (!error) setDraft(null);
  };
  return (
    <section className="rp-plan rp-card">
      <div className="rp-head">
        <strong className="rp-title">{plan.task}</strong>
        <span className="rp-muted rp-number">{done} of {plan.parts.length} done</span>
      </div>
      <Questions questions={plan.questions} plan={plan} sendUserMessage={sendUserMessage} />
      {draft === null ? (
        <ol className="rp-parts">
          {plan.parts.map((part) => {
            const Icon = ICONS[part.state];
            return (
              <li key={part.number} data-state={part.state}>
                <Icon size={15} className="rp-part-icon" aria-label={part.state} />
                <div className="rp-part-text">
                  <div>{part.number}. {part.title}</div>
                  <div className="rp-muted rp-detail">
                    {[part.files.join(', '), `${part.risk.toLowerCase()} risk`, part.depends_on.length ? `after ${part.depends_on.join(', ')}` : ''].filter(Boolean).join(' · ')}
                  </div>
                </div>
                {part.state === 'open' && props.current && (
                  <span className="rp-row rp-tight">
                    <button className="rp-button" onClick={() => say(`proceed with part ${part.number}`)}><Play size={13} /> Do it</button>
                    <button className="rp-button" onClick={() => say(`skip part ${part.number}`)}><SkipForward size={13} /> Skip</button>
                  </span>
                )}
              </li>
            );
          })}
        </ol>
      ) : (
        <textarea className="rp-input rp-edit" aria-label="Parts, one a line" value={draft} rows={Math.max(4, plan.parts.length + 1)} onChange={(e) => setDraft(e.target.value)} />
      )}
      {failed && <div className="rp-error">{failed}</div>}
      {props.current && (
        <div className="rp-row">
          {draft === null ? (
            <>
              <button className="rp-button rp-primary" disabled={!open.length} onClick={() => say('proceed')}><Play size={14} /> Proceed</button>
              <button className="rp-button" disabled={!open.length} onClick={() => say('proceed with all')}>Proceed with all</button>
              <button className="rp-button" disabled={!open.length} onClick={() => setDraft(plan.parts.map((part) => part.title).join('\n'))}><Pencil size={13} /> Edit</button>
            </>
          ) : (
            <>
              <button className="rp-button rp-primary" disabled={!draft.trim()} onClick={save}>Take this plan</button>
              <button className="rp-button" onClick={() => setDraft(null)}>Leave it</button>
            </>
          )}
        </div>
      )}
      {!props.current && <div className="rp-muted rp-detail">A newer plan stands below.</div>}
    </section>
  );
});

export default <Plan props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
