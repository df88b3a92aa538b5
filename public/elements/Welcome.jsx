import { useState } from 'react';
import { ArrowRight, FolderGit2, Loader2 } from 'lucide-react';

// Chainlit runs this file anew at every update. The component is kept, so that React sees the same one and what the
// user typed or unfolded stays.
const Welcome = (window.repopilotWelcome ||= function ({ props, callAction, sendUserMessage }) {
  const [text, setText] = useState('');
  const open = (event) => {
    event.preventDefault();
    if (text.trim()) sendUserMessage(text.trim(), 'open');
  };
  return (
    <section className="rp-welcome">
      <div className="rp-brand">RepoPilot</div>
      <h1>Talk to a git repository, on your own machine</h1>
      <p className="rp-lead">
        Give an address or a folder. It is cloned and indexed here, then you ask: answers cite the lines they rest on,
        every step is shown, and nothing is written until you accept it.
      </p>
      <form className="rp-row rp-open" onSubmit={open}>
        <input className="rp-input rp-grow" value={text} onChange={(e) => setText(e.target.value)} aria-label="Repository"
          placeholder="https://github.com/owner/name, owner/name, or /path/to/folder" spellCheck="false" />
        <button className="rp-button rp-primary" disabled={!text.trim()}>Open <ArrowRight size={15} /></button>
      </form>
      {props.offer && (
        <div className="rp-warn rp-row">
          <span>A link brought you here to open <code>{props.offer}</code>.</span>
          <button className="rp-button" onClick={() => sendUserMessage(props.offer, 'open')}>Open it</button>
        </div>
      )}
      <div className="rp-row">
        {props.recent.map((entry) => (
          <button key={entry.address} className="rp-button rp-round" title={entry.address} onClick={() => sendUserMessage(entry.address, 'open')}>
            <FolderGit2 size={14} /> {entry.name}{entry.status ? <span className="rp-muted"> · {entry.status}</span> : null}
          </button>
        ))}
        {props.examples.length > 0 && <span className="rp-muted">For example</span>}
        {props.examples.map(([label, address]) => (
          <button key={address} id={`starter-${label.toLowerCase().replaceAll(' ', '-')}`} className="rp-button rp-round" title={address} onClick={() => sendUserMessage(address, 'open')}>
            {label}
          </button>
        ))}
      </div>
      <div className="rp-status" data-state={props.model.state}>
        {props.model.state === 'busy' ? <Loader2 size={14} className="rp-spin" /> : <span className="rp-dot" />}
        <span>{props.model.text}</span>
        {props.model.pull && (
          <button className="rp-button" onClick={() => callAction({ name: 'pull_model', payload: { name: props.model.pull } })}>
            Have Ollama fetch {props.model.pull}
          </button>
        )}
      </div>
      {props.model.notes.map((note) => <div key={note} className="rp-muted rp-note">{note}</div>)}
    </section>
  );
});

export default <Welcome props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
